#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "frostline/core/json.h"

namespace frostline::eval {

/// Where one recorded episode comes from.
struct RecordedEpisode {
  std::uint64_t env_seed = 0;
  std::vector<double> start_position_m;
  std::int64_t first_success_step = -1;
  /// Seeds left out before this one, since the start, because their stratum was full.
  std::int64_t num_passed_over = 0;
};

/// `meta/frostline.json` of a recorded data set: how it was made and from which seeds, so that it
/// can be made again and a stopped recording can go on.
struct RecordManifest {
  Json options;  ///< All that decides the content; another value is another data set.
  std::string renderer_version;
  std::vector<RecordedEpisode> episodes;
  std::vector<std::uint64_t> failed_seeds;  ///< The expert did not succeed.
  std::int64_t num_passed_over = 0;         ///< As that of the last episode.
  bool is_finished = false;
};

/// Errors: `kIo`.
void write_manifest(const std::filesystem::path& dataset, const RecordManifest& manifest);

/// Empty when there is none. Errors: `kData` naming file and key when it is malformed.
std::optional<RecordManifest> read_manifest(const std::filesystem::path& dataset);

/// Refuses to go on with `found` under other options or another renderer.
/// Errors: `kData` naming what differs.
void require_same_recording(const std::filesystem::path& dataset,
                            const RecordManifest& found,
                            const RecordManifest& wanted);

/// Cuts `manifest` down to what the data set holds: an episode is listed before it is stored, so a
/// killed recorder may have listed one too many.
/// Errors: `kData` when the data set holds more than is listed.
void cut_to_stored(const std::filesystem::path& dataset,
                   std::int64_t num_stored,
                   RecordManifest& manifest);

}  // namespace frostline::eval
