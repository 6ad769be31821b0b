#include "frostline/train/run_log.h"

#include <sstream>
#include <string>

#include "frostline/core/error.h"
#include "frostline/core/file.h"

namespace frostline::train {

RunLog::RunLog(const std::filesystem::path& run_folder, std::int64_t first_step) {
  const auto path = run_folder / "metrics.jsonl";
  std::string kept;
  if (std::filesystem::exists(path) && first_step > 0) {
    std::istringstream lines(read_file(path));
    for (std::string line; std::getline(lines, line);) {
      const Json record = Json::parse(line, nullptr, false);
      // A kill can leave half a line at the end.
      if (!record.is_discarded() && record.at("step").get<std::int64_t>() <= first_step) {
        kept += line + "\n";
        curve_.push_back({record.at("step").get<std::int64_t>(), record.at("loss").get<double>()});
      }
    }
  }
  write_file_atomic(path, kept);
  file_.open(path, std::ios::app);
  FROSTLINE_REQUIRE(
      file_.is_open(), ErrorCode::kIo, "cannot write the metrics", "file=" + path.string());
}

void RunLog::add(const Json& record) {
  curve_.push_back({record.at("step").get<std::int64_t>(), record.at("loss").get<double>()});
  file_ << record.dump() << '\n' << std::flush;
}

}  // namespace frostline::train
