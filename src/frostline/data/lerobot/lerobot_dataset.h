#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "frostline/data/dataset.h"

namespace frostline::data {

/// Opens a LeRobot v3.0 folder. Errors: as `open_dataset`.
std::unique_ptr<Dataset> open_lerobot(const std::filesystem::path& root);

/// Errors: `kUnsupported` without Arrow; what is wrong with the content is returned.
std::vector<Finding> verify_lerobot(const std::filesystem::path& root);

}  // namespace frostline::data
