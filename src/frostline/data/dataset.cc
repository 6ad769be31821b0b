#include "frostline/data/dataset.h"

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/data/lerobot/lerobot_dataset.h"

namespace frostline::data {

namespace fs = std::filesystem;

namespace {

void require_folder(const fs::path& path) {
  FROSTLINE_REQUIRE(fs::exists(path),
                    ErrorCode::kIo,
                    "there is no data set",
                    fmt::format("path={} ; nothing has this name", path.string()));
  FROSTLINE_REQUIRE(
      fs::is_directory(path),
      ErrorCode::kData,
      "format of the data set is not known",
      fmt::format("path={} ; supported: a folder in LeRobot v3.0 format", path.string()));
}

}  // namespace

std::unique_ptr<Dataset> open_dataset(const fs::path& path) {
  require_folder(path);
  return open_lerobot(fs::absolute(path).lexically_normal());
}

std::vector<Finding> verify_dataset(const fs::path& path) {
  require_folder(path);
  return verify_lerobot(fs::absolute(path).lexically_normal());
}

}  // namespace frostline::data
