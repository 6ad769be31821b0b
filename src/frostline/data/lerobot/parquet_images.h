#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace frostline::data {

/// Encoded images of Parquet columns by row. Keeps the row groups used last, so that neighbouring
/// rows need no second read. Thread-safe.
class ParquetImages {
 public:
  explicit ParquetImages(std::size_t max_row_groups) : max_row_groups_(max_row_groups) {}

  /// Errors: `kData` naming file, column and row.
  std::string read(const std::filesystem::path& path, const std::string& column, std::int64_t row);

 private:
  using Images = std::shared_ptr<const std::vector<std::string>>;

  struct Group {
    std::filesystem::path path;
    std::string column;
    std::int64_t begin = 0;
    Images images;
  };

  const std::size_t max_row_groups_;
  std::mutex mutex_;
  std::list<Group> groups_;  ///< Most recently used first.
};

}  // namespace frostline::data
