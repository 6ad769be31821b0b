#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "frostline/core/json.h"
#include "frostline/data/dataset.h"

namespace frostline::data {

/// Collects findings; the loader goes on after those that leave something to look at.
using Findings = std::vector<Finding>;

/// Adds an error that concerns no single episode.
void add_error(Findings& findings,
               std::string code,
               const std::filesystem::path& file,
               std::string message,
               std::string remedy);
void add_warning(Findings& findings,
                 std::string code,
                 const std::filesystem::path& file,
                 std::string message,
                 std::string remedy);

/// Where a LeRobot v3.0 data set keeps what.
/// Source: LeRobot v3.0, `lerobot/datasets/utils.py`.
struct LeRobotPaths {
  std::string data = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet";
  std::string video = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4";
};

/// The file of a Parquet or video path pattern. Errors: `kData` when the pattern has another field.
std::string format_path(const std::string& pattern,
                        const std::string& video_key,
                        std::int64_t chunk_index,
                        std::int64_t file_index);

inline constexpr const char* kInfoFile = "meta/info.json";
inline constexpr const char* kStatisticsFile = "meta/stats.json";
inline constexpr const char* kTasksFile = "meta/tasks.parquet";
inline constexpr const char* kEpisodesFolder = "meta/episodes";
inline constexpr const char* kEpisodesPattern =
    "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet";
/// Marks a data set whose recording has not finished; our own, unknown to LeRobot.
inline constexpr const char* kRecordingFile = "meta/recording.json";

/// Columns that every data set has.
inline constexpr const char* kAutomaticFeatures[] = {
    "timestamp", "frame_index", "episode_index", "index", "task_index"};

/// What `info.json` says.
struct LeRobotInfo {
  DatasetInfo info;  ///< Counts as the file states them.
  std::vector<bool> camera_is_video;
  std::int64_t chunk_size = 1000;
  std::int64_t num_tasks = 0;
  LeRobotPaths paths;
};

/// Reads `info.json`; what is wrong goes into `findings`. Returns false when there is nothing to go
/// on with.
bool read_info(const std::filesystem::path& root, LeRobotInfo& out, Findings& findings);

/// Name of an element type as LeRobot (numpy) writes it, for example `float32`.
/// Errors: `kUnsupported` for one that numpy has not.
std::string numpy_name(DType dtype);

}  // namespace frostline::data
