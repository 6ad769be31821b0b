#include "frostline/data/table.h"

#include <arrow/api.h>
#include <arrow/config.h>
#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/data/library_versions.h"
#include "frostline/data/parquet/arrow_status.h"

namespace frostline::data {

std::string arrow_version() {
  return arrow::GetBuildInfo().version_string;
}

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kNames[] = {"null", "bool", "int64", "double", "string"};

std::shared_ptr<arrow::DataType> type_of(std::size_t kind) {
  switch (kind) {
    case 1:
      return arrow::boolean();
    case 2:
      return arrow::int64();
    case 3:
      return arrow::float64();
    case 4:
      return arrow::utf8();
    default:
      return arrow::null();
  }
}

/// Index into `Cell` of the one type of a column's cells; 0 when all are null.
std::size_t kind_of_column(const Table& table, std::size_t column) {
  std::size_t kind = 0;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::size_t found = table.rows[row][column].index();
    if (kind != 0 && found != 0 && found != kind) {
      throw Error(ErrorCode::kUsage,
                  "cells of a table's column differ in type",
                  fmt::format("column={} row={} type={} expected={}",
                              table.columns[column],
                              row,
                              kNames[found],
                              kNames[kind]));
    }
    kind = found == 0 ? kind : found;
  }
  return kind;
}

template <class Builder>
arrow::Status append(arrow::ArrayBuilder& builder, const Cell& cell) {
  auto& typed = static_cast<Builder&>(builder);
  if constexpr (std::is_same_v<Builder, arrow::BooleanBuilder>) {
    return typed.Append(std::get<bool>(cell));
  } else if constexpr (std::is_same_v<Builder, arrow::Int64Builder>) {
    return typed.Append(std::get<std::int64_t>(cell));
  } else if constexpr (std::is_same_v<Builder, arrow::DoubleBuilder>) {
    return typed.Append(std::get<double>(cell));
  } else {
    return typed.Append(std::get<std::string>(cell));
  }
}

arrow::Status append_cell(arrow::ArrayBuilder& builder, const Cell& cell) {
  switch (cell.index()) {
    case 1:
      return append<arrow::BooleanBuilder>(builder, cell);
    case 2:
      return append<arrow::Int64Builder>(builder, cell);
    case 3:
      return append<arrow::DoubleBuilder>(builder, cell);
    case 4:
      return append<arrow::StringBuilder>(builder, cell);
    default:
      return builder.AppendNull();
  }
}

Cell read_cell(const arrow::Array& array,
               std::int64_t row,
               const fs::path& path,
               const std::string& column) {
  if (array.IsNull(row)) {
    return {};
  }
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      return static_cast<const arrow::BooleanArray&>(array).Value(row);
    case arrow::Type::INT32:
      return std::int64_t{static_cast<const arrow::Int32Array&>(array).Value(row)};
    case arrow::Type::INT64:
      return static_cast<const arrow::Int64Array&>(array).Value(row);
    case arrow::Type::FLOAT:
      return double{static_cast<const arrow::FloatArray&>(array).Value(row)};
    case arrow::Type::DOUBLE:
      return static_cast<const arrow::DoubleArray&>(array).Value(row);
    case arrow::Type::STRING:
      return static_cast<const arrow::StringArray&>(array).GetString(row);
    case arrow::Type::LARGE_STRING:
      return static_cast<const arrow::LargeStringArray&>(array).GetString(row);
    default:
      throw Error(ErrorCode::kData,
                  "table has a column of an unsupported type",
                  fmt::format("file={} column={} type={} ; supported: bool, int32, int64, float, "
                              "double, string",
                              path.string(),
                              column,
                              array.type()->ToString()));
  }
}

}  // namespace

void write_table(const fs::path& path, const Table& table) {
  FROSTLINE_REQUIRE(!table.columns.empty(),
                    ErrorCode::kUsage,
                    "table has no columns",
                    fmt::format("file={}", path.string()));
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    FROSTLINE_REQUIRE(table.rows[row].size() == table.columns.size(),
                      ErrorCode::kUsage,
                      "row of a table has another width than the table",
                      fmt::format("file={} row={} cells={} columns={}",
                                  path.string(),
                                  row,
                                  table.rows[row].size(),
                                  table.columns.size()));
  }
  std::vector<std::shared_ptr<arrow::Field>> fields;
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const auto type = type_of(kind_of_column(table, column));
    const auto builder = value_or_throw(
        arrow::MakeBuilder(type), ErrorCode::kResource, "cannot build a column", path);
    for (const auto& row : table.rows) {
      require_ok(
          append_cell(*builder, row[column]), ErrorCode::kResource, "cannot build a column", path);
    }
    arrays.push_back(
        value_or_throw(builder->Finish(), ErrorCode::kResource, "cannot build a column", path));
    fields.push_back(arrow::field(table.columns[column], type));
  }
  const auto num_rows = static_cast<std::int64_t>(table.rows.size());
  std::vector<std::int64_t> row_groups;
  if (num_rows > 0) {
    row_groups.push_back(num_rows);
  }
  write_arrow_table(
      path, arrow::Table::Make(arrow::schema(fields), arrays, num_rows), row_groups, {});
}

Table read_table(const fs::path& path) {
  const ArrowColumns read = read_arrow_columns(path);
  Table table;
  table.columns = read.schema->field_names();
  table.rows.resize(static_cast<std::size_t>(read.num_rows));
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    std::size_t at = 0;
    for (const auto& chunk : read.columns[column]->chunks()) {
      for (std::int64_t row = 0; row < chunk->length(); ++row) {
        table.rows[at++].push_back(read_cell(*chunk, row, path, table.columns[column]));
      }
    }
  }
  return table;
}

}  // namespace frostline::data
