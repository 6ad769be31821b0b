#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "frostline/core/tensor.h"
#include "frostline/data/dataset.h"
#include "frostline/data/lerobot/info.h"

namespace frostline::data {

/// Part of a video file that an episode occupies.
struct EpisodeVideo {
  std::string file;  ///< Relative to the root.
  std::int64_t first_frame = 0;
};

/// One row of `meta/episodes`.
struct Episode {
  std::int64_t index = 0;
  FrameRange range;  ///< Ours: episodes one after another in stored order.
  std::int64_t stated_begin = 0;
  std::int64_t stated_end = 0;
  std::string data_file;             ///< Relative to the root.
  std::int64_t first_row = 0;        ///< Its first frame's row in the data file.
  std::vector<EpisodeVideo> videos;  ///< In the order of the cameras; empty file: not a video.
};

/// A whole data set without its pictures.
struct LeRobotContent {
  LeRobotInfo meta;
  bool is_unfinished = false;
  std::vector<Episode> episodes;
  std::map<std::string, FeatureStatistics> statistics;
  std::map<std::string, HostTensor> columns;
  std::vector<std::string> episode_files;  ///< Of meta/episodes, relative to the root.
};

/// `3 episodes: 4, 5, 6`, with `, …` after ten.
std::string describe_episodes(const std::vector<std::int64_t>& episodes);

/// Reads everything but pictures; what is wrong goes into `findings` and reading goes on as far as
/// that makes sense. Errors: `kUnsupported` without Arrow.
void load_content(const std::filesystem::path& root, LeRobotContent& out, Findings& findings);

/// The parts of `load_content`.
bool load_episodes(LeRobotContent& content, Findings& findings);
void load_statistics(LeRobotContent& content, Findings& findings);
void load_columns(LeRobotContent& content, Findings& findings);
/// Looks at the header of every video: missing, damaged, other fps or size, too short.
void check_videos(const LeRobotContent& content, Findings& findings);
/// Looks at the numbers: not finite, constant, time stamps that drift.
void check_columns(const LeRobotContent& content, Findings& findings);

}  // namespace frostline::data
