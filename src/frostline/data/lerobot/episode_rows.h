#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frostline/data/dataset_writer.h"
#include "frostline/data/lerobot/growing_files.h"
#include "frostline/data/lerobot/statistics.h"
#include "frostline/data/parquet/columns.h"

namespace frostline::data {

/// Where an episode begins and what it is.
struct EpisodeStart {
  std::int64_t index = 0;
  std::int64_t first_frame = 0;  ///< In the data set.
  std::int64_t task_index = 0;
  std::string task;
};

/// Gathers the frames of one episode: the rows of the data file and the statistics. One thread.
class EpisodeRows {
 public:
  EpisodeRows(const WriterOptions& options, EpisodeStart start);

  /// Errors: `kUsage` when a shape disagrees, `kNumeric` when a value is not finite; nothing is
  /// added then.
  void check(const FrameData& frame) const;
  void add(const FrameData& frame);

  const EpisodeStart& start() const { return start_; }

  std::int64_t length() const { return length_; }

  NamedStatistics statistics() const;
  /// Lengths of the row groups: one, or short ones when images are among the columns, because a
  /// row group is read as a whole.
  std::vector<std::int64_t> row_groups() const;
  /// Columns of the data file, in the order of `features_json`; leaves the object empty.
  std::vector<ColumnData> take();

 private:
  const WriterOptions& options_;
  EpisodeStart start_;
  std::int64_t length_ = 0;
  std::vector<ColumnData> features_;
  std::vector<ColumnData> images_;  ///< One a camera; unused for videos.
  std::vector<ImageHistogram> histograms_;
  std::vector<ColumnData> automatic_;
};

/// The columns of the data file without rows.
std::vector<ColumnData> empty_data_columns(const WriterOptions& options);

/// One row of meta/episodes.
struct EpisodePlaces {
  FileNumber data;
  FileNumber episodes;
  std::vector<VideoPlace> videos;  ///< In the order of the cameras.
};

std::vector<ColumnData> episode_row(const WriterOptions& options,
                                    const EpisodeStart& start,
                                    std::int64_t length,
                                    const EpisodePlaces& places,
                                    const NamedStatistics& statistics);

/// Reads the statistics of every episode back from files of meta/episodes.
std::vector<NamedStatistics> read_episode_statistics(const WriterOptions& options,
                                                     const std::filesystem::path& file);

}  // namespace frostline::data
