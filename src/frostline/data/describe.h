#pragma once

#include <span>

#include "frostline/core/json.h"
#include "frostline/data/dataset.h"

namespace frostline::data {

/// What `data inspect --json` prints: `path, format, version, robot_type, fps, episodes, frames,
/// duration_s, cameras[{name, height_px, width_px, codec}], features[{name, dtype, shape}],
/// tasks[], episode_lengths{shortest, longest}, fingerprint`.
Json describe(const Dataset& dataset);

/// `data verify --json`: `findings[{severity, code, file, episode, frame, message, remedy}]`.
Json describe(std::span<const Finding> findings);

}  // namespace frostline::data
