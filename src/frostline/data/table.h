#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace frostline::data {

/// A value of a small table; an empty optional in a column is null.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// A small typed table, stored as Parquet; each column's non-null cells have one type.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
};

/// Writes atomically. Errors: `kUsage` when a row's width or a cell's type disagrees; `kIo`.
void write_table(const std::filesystem::path& path, const Table& table);
/// Errors: `kIo`; `kData` when the file is no Parquet or has nested columns.
Table read_table(const std::filesystem::path& path);

}  // namespace frostline::data
