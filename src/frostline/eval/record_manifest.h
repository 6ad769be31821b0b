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
};

/// `meta/frostline.json` of a recorded data set: how it was made and from which seeds, so that it
/// can be made again and a stopped recording can go on.
struct RecordManifest {
  Json options;  ///< All that decides the content; another value is another data set.
  std::string renderer_version;
  std::vector<RecordedEpisode> episodes;
  std::vector<std::uint64_t> failed_seeds;  ///< The expert did not succeed.
  std::int64_t num_passed_over = 0;         ///< Seeds whose stratum was full.
  bool is_finished = false;
};

/// Errors: `kIo`.
void write_manifest(const std::filesystem::path& dataset, const RecordManifest& manifest);

/// Empty when there is none. Errors: `kData` naming file and key when it is malformed.
std::optional<RecordManifest> read_manifest(const std::filesystem::path& dataset);

/// The manifest from which a recording into `dataset` goes on.
///
/// An episode is listed before it is stored, so a killed recorder may have listed one too many;
/// what counts is the data set's own `total_episodes`.
/// Errors: `kData` when the folder holds something that these options did not record.
RecordManifest resume_manifest(const std::filesystem::path& dataset, const Json& options,
                               const std::string& renderer_version);

}  // namespace frostline::eval
