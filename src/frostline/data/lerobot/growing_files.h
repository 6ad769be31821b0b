#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "frostline/data/parquet/columns.h"

namespace frostline::data {

/// Number of a file of a data set: chunk and place in it.
struct FileNumber {
  std::int64_t sequence = 0;

  std::int64_t chunk() const;
  std::int64_t file() const;
};

/// A series of Parquet files that gains rows at its end. Each addition replaces the last file by a
/// longer one in one step, so that a kill loses nothing. One thread.
class GrowingParquet {
 public:
  GrowingParquet(std::filesystem::path root,
                 std::string pattern,
                 std::map<std::string, std::string> metadata,
                 std::int64_t cap_bytes);

  /// Goes on with a new file of this number.
  void start_at(std::int64_t sequence);
  /// Goes on with a file whose content is `columns`.
  void start_with(std::int64_t sequence,
                  std::vector<ColumnData> columns,
                  std::vector<std::int64_t> row_groups);

  /// Where `append` will put so many bytes; begins the next file when the last one is full.
  FileNumber place(std::int64_t num_bytes);
  /// Adds rows, as row groups of the given lengths.
  void append(std::vector<ColumnData> rows, const std::vector<std::int64_t>& row_groups);

 private:
  void write() const;

  std::filesystem::path root_;
  std::string pattern_;
  std::map<std::string, std::string> metadata_;
  std::int64_t cap_bytes_;
  FileNumber number_;
  std::vector<ColumnData> columns_;
  std::vector<std::int64_t> row_groups_;
  std::int64_t num_bytes_ = 0;
};

/// Where an episode's pictures went.
struct VideoPlace {
  FileNumber number;
  std::int64_t first_frame = 0;
};

/// As `GrowingParquet` for the videos of one camera; joined without encoding again.
class GrowingVideo {
 public:
  GrowingVideo(std::filesystem::path root,
               std::string camera,
               std::int64_t fps,
               std::int64_t cap_bytes);

  void start_at(std::int64_t sequence);

  /// Takes over the file `episode`.
  VideoPlace append(const std::filesystem::path& episode, std::int64_t num_frames);

 private:
  std::filesystem::path path() const;

  std::filesystem::path root_;
  std::string camera_;
  std::int64_t fps_;
  std::int64_t cap_bytes_;
  FileNumber number_;
  std::int64_t num_frames_ = 0;
};

/// Bytes that the rows take in memory, an estimate of those in a file.
std::int64_t num_bytes_of(const std::vector<ColumnData>& columns);

}  // namespace frostline::data
