#pragma once

#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <arrow/api.h>
#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/data/parquet/columns.h"

namespace frostline::data {

/// Throws `code` with Arrow's own words when `status` is a failure.
inline void require_ok(const arrow::Status& status,
                       ErrorCode code,
                       std::string_view what,
                       const std::filesystem::path& path) {
  FROSTLINE_REQUIRE(
      status.ok(), code, what, fmt::format("file={} ; {}", path.string(), status.message()));
}

template <class T>
T value_or_throw(arrow::Result<T> result,
                 ErrorCode code,
                 std::string_view what,
                 const std::filesystem::path& path) {
  require_ok(result.status(), code, what, path);
  return std::move(result).ValueUnsafe();
}

/// Writes `table` to a temporary file and renames it into place; one row group for each length.
void write_arrow_table(const std::filesystem::path& path,
                       const std::shared_ptr<arrow::Table>& table,
                       const std::vector<std::int64_t>& row_groups,
                       const std::vector<std::string>& incompressible);

/// Opens a file and reads the columns of its top level.
struct ArrowColumns {
  std::shared_ptr<arrow::Schema> schema;
  std::vector<std::shared_ptr<arrow::ChunkedArray>> columns;
  std::int64_t num_rows = 0;
};

ArrowColumns read_arrow_columns(const std::filesystem::path& path);

}  // namespace frostline::data
