#pragma once

#include <string>

namespace frostline::data {

/// Version of the library in use; empty when it is not built in.
std::string arrow_version();
std::string ffmpeg_version();

}  // namespace frostline::data
