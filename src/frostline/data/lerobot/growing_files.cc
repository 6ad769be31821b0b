#include "frostline/data/lerobot/growing_files.h"

#include <utility>

#include "frostline/core/error.h"
#include "frostline/core/file.h"
#include "frostline/data/lerobot/info.h"
#include "frostline/data/lerobot/metadata.h"
#include "frostline/data/video/video.h"

namespace frostline::data {

namespace fs = std::filesystem;

std::int64_t FileNumber::chunk() const {
  return sequence / kFilesPerChunk;
}

std::int64_t FileNumber::file() const {
  return sequence % kFilesPerChunk;
}

std::int64_t num_bytes_of(const std::vector<ColumnData>& columns) {
  std::size_t num_bytes = 0;
  for (const ColumnData& column : columns) {
    num_bytes += column.numbers.size() * size_of(column.dtype);
    for (const std::string& text : column.texts) {
      num_bytes += text.size();
    }
  }
  return static_cast<std::int64_t>(num_bytes);
}

GrowingParquet::GrowingParquet(fs::path root,
                               std::string pattern,
                               std::map<std::string, std::string> metadata,
                               std::int64_t cap_bytes)
    : root_(std::move(root)),
      pattern_(std::move(pattern)),
      metadata_(std::move(metadata)),
      cap_bytes_(cap_bytes) {}

void GrowingParquet::start_at(std::int64_t sequence) {
  number_ = {sequence};
  columns_.clear();
  row_groups_.clear();
  num_bytes_ = 0;
}

void GrowingParquet::start_with(std::int64_t sequence,
                                std::vector<ColumnData> columns,
                                std::vector<std::int64_t> row_groups) {
  start_at(sequence);
  num_bytes_ = num_bytes_of(columns);
  columns_ = std::move(columns);
  row_groups_ = std::move(row_groups);
  write();
}

FileNumber GrowingParquet::place(std::int64_t num_bytes) {
  if (!columns_.empty() && num_bytes_ + num_bytes > cap_bytes_) {
    start_at(number_.sequence + 1);
  }
  return number_;
}

void GrowingParquet::append(std::vector<ColumnData> rows,
                            const std::vector<std::int64_t>& row_groups) {
  num_bytes_ += num_bytes_of(rows);
  if (columns_.empty()) {
    columns_ = std::move(rows);
  } else {
    FROSTLINE_CHECK(rows.size() == columns_.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      columns_[i].append(std::move(rows[i]));
    }
  }
  row_groups_.insert(row_groups_.end(), row_groups.begin(), row_groups.end());
  write();
}

void GrowingParquet::write() const {
  write_parquet(root_ / format_path(pattern_, "", number_.chunk(), number_.file()),
                columns_,
                {.metadata = metadata_, .row_groups = row_groups_});
}

GrowingVideo::GrowingVideo(fs::path root,
                           std::string camera,
                           std::int64_t fps,
                           std::int64_t cap_bytes)
    : root_(std::move(root)), camera_(std::move(camera)), fps_(fps), cap_bytes_(cap_bytes) {}

void GrowingVideo::start_at(std::int64_t sequence) {
  number_ = {sequence};
  num_frames_ = 0;
}

fs::path GrowingVideo::path() const {
  return root_ / format_path(LeRobotPaths().video, camera_, number_.chunk(), number_.file());
}

VideoPlace GrowingVideo::append(const fs::path& episode, std::int64_t num_frames) {
  const auto take_over = [](const fs::path& from, const fs::path& to) {
    replace_file(to, [&](const fs::path& temporary) { fs::rename(from, temporary); });
  };
  if (num_frames_ > 0) {
    const fs::path joined = episode.string() + ".joined";
    const std::uintmax_t total = fs::file_size(path()) + fs::file_size(episode);
    if (static_cast<std::int64_t>(total) <= cap_bytes_ &&
        join_videos(path(), episode, fps_, joined)) {
      take_over(joined, path());
      fs::remove(episode);
      const std::int64_t first_frame = std::exchange(num_frames_, num_frames_ + num_frames);
      return {number_, first_frame};
    }
    start_at(number_.sequence + 1);
  }
  take_over(episode, path());
  num_frames_ = num_frames;
  return {number_, 0};
}

}  // namespace frostline::data
