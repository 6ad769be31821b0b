#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "frostline/core/json.h"
#include "frostline/data/dataset_writer.h"

namespace frostline::data {

/// A file grows until it is this large; then the next one begins. Smaller than LeRobot's caps
/// (100 and 200 MB) because a file is written anew for every episode it gains.
inline constexpr std::int64_t kDataFileCap_mb = 4;
inline constexpr std::int64_t kVideoFileCap_mb = 8;
inline constexpr std::int64_t kFilesPerChunk = 1000;

/// Counts of `info.json`.
struct RecordedCounts {
  std::int64_t num_episodes = 0;
  std::int64_t num_frames = 0;
  std::int64_t num_tasks = 0;
};

bool is_video_codec(const std::string& codec);

/// The `features` object of `info.json`, with the automatic ones.
Json features_json(const WriterOptions& options);

/// Writes `meta/info.json`.
void write_info(const std::filesystem::path& root,
                const WriterOptions& options,
                const RecordedCounts& counts);

/// Writes `meta/tasks.parquet` with the index `task` that pandas looks for.
void write_tasks(const std::filesystem::path& root, const std::vector<std::string>& tasks);

/// Schema metadata `huggingface` of the data files.
std::string huggingface_metadata(const WriterOptions& options);

/// What `meta/recording.json` holds: the options that a resumed recording has to share.
Json recording_json(const WriterOptions& options);

}  // namespace frostline::data
