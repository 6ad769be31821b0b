#include "frostline/data/lerobot/parquet_images.h"

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/data/parquet/columns.h"

namespace frostline::data {

std::string ParquetImages::read(const std::filesystem::path& path,
                                const std::string& column,
                                std::int64_t row) {
  {
    const std::lock_guard lock(mutex_);
    for (auto group = groups_.begin(); group != groups_.end(); ++group) {
      if (group->path == path && group->column == column && row >= group->begin &&
          row < group->begin + std::ssize(*group->images)) {
        groups_.splice(groups_.begin(), groups_, group);
        return (*groups_.front().images)[static_cast<std::size_t>(row - groups_.front().begin)];
      }
    }
  }
  const ParquetFile file(path);
  std::int64_t begin = 0;
  for (int index = 0; index < file.num_row_groups(); ++index) {
    const std::int64_t length = file.row_group_length(index);
    if (row >= begin && row < begin + length) {
      auto images =
          std::make_shared<const std::vector<std::string>>(file.read_images(column, index));
      std::string image = images->at(static_cast<std::size_t>(row - begin));
      const std::lock_guard lock(mutex_);
      groups_.push_front({path, column, begin, std::move(images)});
      if (groups_.size() > max_row_groups_) {
        groups_.pop_back();
      }
      return image;
    }
    begin += length;
  }
  throw Error(
      ErrorCode::kData,
      "Parquet file ends before the row asked for",
      fmt::format("file={} column={} row={} rows={}", path.string(), column, row, file.num_rows()));
}

}  // namespace frostline::data
