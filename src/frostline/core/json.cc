#include "frostline/core/json.h"

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/core/file.h"

namespace frostline {

Json parse_json(std::string_view text, std::string_view origin) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    throw Error(ErrorCode::kData,
                "malformed JSON",
                fmt::format("file={} byte={} ; {}", origin, e.byte, e.what()));
  }
}

Json read_json(const std::filesystem::path& path) {
  return parse_json(read_file(path), path.string());
}

void write_json(const std::filesystem::path& path, const Json& document) {
  write_file_atomic(path, document.dump(2) + "\n");
}

}  // namespace frostline
