#include <numeric>

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>
#include <parquet/arrow/writer.h>
#include <parquet/exception.h>

#include "frostline/core/error.h"
#include "frostline/core/file.h"
#include "frostline/data/parquet/arrow_status.h"
#include "frostline/data/parquet/columns.h"

namespace frostline::data {

namespace fs = std::filesystem;

namespace {

using ArrayPointer = std::shared_ptr<arrow::Array>;

ArrayPointer checked(arrow::Result<ArrayPointer> result) {
  FROSTLINE_REQUIRE(result.ok(),
                    ErrorCode::kResource,
                    "cannot build a column in memory",
                    result.status().message());
  return std::move(result).ValueUnsafe();
}

void checked(const arrow::Status& status) {
  FROSTLINE_REQUIRE(
      status.ok(), ErrorCode::kResource, "cannot build a column in memory", status.message());
}

template <class Builder, class Value>
ArrayPointer build(const std::vector<double>& numbers) {
  Builder builder;
  checked(builder.Reserve(static_cast<std::int64_t>(numbers.size())));
  for (const double number : numbers) {
    builder.UnsafeAppend(static_cast<Value>(number));
  }
  return checked(builder.Finish());
}

ArrayPointer build_numbers(DType dtype, const std::vector<double>& numbers) {
  switch (dtype) {
    case DType::kF32:
      return build<arrow::FloatBuilder, float>(numbers);
    case DType::kF64:
      return build<arrow::DoubleBuilder, double>(numbers);
    case DType::kI64:
      return build<arrow::Int64Builder, std::int64_t>(numbers);
    case DType::kI32:
      return build<arrow::Int32Builder, std::int32_t>(numbers);
    case DType::kI8:
      return build<arrow::Int8Builder, std::int8_t>(numbers);
    case DType::kU8:
      return build<arrow::UInt8Builder, std::uint8_t>(numbers);
    case DType::kBool:
      return build<arrow::BooleanBuilder, bool>(numbers);
    case DType::kF16:
    case DType::kBF16:
      break;
  }
  throw Error(ErrorCode::kUnsupported,
              "element type cannot be stored in Parquet",
              fmt::format("dtype={} ; store it as f32", to_string(dtype)));
}

ArrayPointer build_texts(const std::vector<std::string>& texts) {
  arrow::StringBuilder builder;
  for (const std::string& text : texts) {
    checked(builder.Append(text));
  }
  return checked(builder.Finish());
}

ArrayPointer wrap_in_lists(const ArrayPointer& values, std::int64_t width) {
  FROSTLINE_CHECK(width > 0);
  arrow::Int32Builder offsets;
  for (std::int64_t at = 0; at <= values->length(); at += width) {
    checked(offsets.Append(static_cast<std::int32_t>(at)));
  }
  const ArrayPointer offset_array = checked(offsets.Finish());
  arrow::Result<std::shared_ptr<arrow::ListArray>> list =
      arrow::ListArray::FromArrays(*offset_array, *values);
  checked(list.status());
  return std::move(list).ValueUnsafe();
}

ArrayPointer build_text_lists(const std::vector<std::vector<std::string>>& rows) {
  auto values = std::make_shared<arrow::StringBuilder>();
  arrow::ListBuilder builder(arrow::default_memory_pool(), values);
  for (const auto& row : rows) {
    checked(builder.Append());
    for (const std::string& text : row) {
      checked(values->Append(text));
    }
  }
  return checked(builder.Finish());
}

/// Path is null: the bytes are embedded.
ArrayPointer build_images(const std::vector<std::string>& encoded) {
  arrow::BinaryBuilder bytes;
  arrow::StringBuilder paths;
  for (const std::string& image : encoded) {
    checked(bytes.Append(image));
    checked(paths.AppendNull());
  }
  const std::vector<ArrayPointer> children{checked(bytes.Finish()), checked(paths.Finish())};
  auto image = arrow::StructArray::Make(children, std::vector<std::string>{"bytes", "path"});
  checked(image.status());
  return std::move(image).ValueUnsafe();
}

ArrayPointer build_column(const ColumnData& column) {
  switch (column.layout) {
    case ColumnLayout::kScalar:
      return build_numbers(column.dtype, column.numbers);
    case ColumnLayout::kList:
      return wrap_in_lists(build_numbers(column.dtype, column.numbers), column.width);
    case ColumnLayout::kFixedList:
      return checked(arrow::FixedSizeListArray::FromArrays(
          build_numbers(column.dtype, column.numbers), static_cast<std::int32_t>(column.width)));
    case ColumnLayout::kPerChannel:
      return wrap_in_lists(
          wrap_in_lists(wrap_in_lists(build_numbers(column.dtype, column.numbers), 1), 1),
          column.width);
    case ColumnLayout::kText:
      return build_texts(column.texts);
    case ColumnLayout::kTextList:
      return build_text_lists(column.text_lists);
    case ColumnLayout::kImage:
      return build_images(column.texts);
  }
  FROSTLINE_CHECK(false);
}

}  // namespace

void write_arrow_table(const fs::path& path,
                       const std::shared_ptr<arrow::Table>& table,
                       const std::vector<std::int64_t>& row_groups,
                       const std::vector<std::string>& incompressible) {
  constexpr std::string_view kWhat = "cannot write Parquet file";
  parquet::WriterProperties::Builder properties;
  properties.compression(parquet::Compression::SNAPPY);
  for (const std::string& column : incompressible) {
    properties.compression(column + ".bytes", parquet::Compression::UNCOMPRESSED);
    properties.disable_dictionary(column + ".bytes");
    properties.disable_statistics(column + ".bytes");
  }
  const auto arrow_properties = parquet::ArrowWriterProperties::Builder().store_schema()->build();
  replace_file(path, [&](const fs::path& temporary) {
    try {
      const auto sink = value_or_throw(
          arrow::io::FileOutputStream::Open(temporary.string()), ErrorCode::kIo, kWhat, path);
      const auto writer =
          value_or_throw(parquet::arrow::FileWriter::Open(*table->schema(),
                                                          arrow::default_memory_pool(),
                                                          sink,
                                                          properties.build(),
                                                          arrow_properties),
                         ErrorCode::kIo,
                         kWhat,
                         path);
      std::int64_t begin = 0;
      for (const std::int64_t length : row_groups) {
        require_ok(
            writer->WriteTable(*table->Slice(begin, length), length), ErrorCode::kIo, kWhat, path);
        begin += length;
      }
      FROSTLINE_CHECK(begin == table->num_rows());
      require_ok(writer->Close(), ErrorCode::kIo, kWhat, path);
      require_ok(sink->Close(), ErrorCode::kIo, kWhat, path);
    } catch (const parquet::ParquetException& error) {
      throw Error(ErrorCode::kIo, kWhat, fmt::format("file={} ; {}", path.string(), error.what()));
    }
  });
}

void write_parquet(const fs::path& path,
                   const std::vector<ColumnData>& columns,
                   const ParquetOptions& options) {
  FROSTLINE_CHECK(!columns.empty());
  const std::int64_t num_rows = columns.front().num_rows();
  std::vector<std::shared_ptr<arrow::Field>> fields;
  std::vector<ArrayPointer> arrays;
  std::vector<std::string> incompressible;
  for (const ColumnData& column : columns) {
    FROSTLINE_CHECK(column.num_rows() == num_rows);
    arrays.push_back(build_column(column));
    fields.push_back(arrow::field(column.name, arrays.back()->type()));
    if (column.layout == ColumnLayout::kImage) {
      incompressible.push_back(column.name);
    }
  }
  std::vector<std::string> keys;
  std::vector<std::string> values;
  for (const auto& [key, value] : options.metadata) {
    keys.push_back(key);
    values.push_back(value);
  }
  const auto schema = arrow::schema(fields, arrow::key_value_metadata(keys, values));
  std::vector<std::int64_t> row_groups = options.row_groups;
  if (row_groups.empty() && num_rows > 0) {
    row_groups.push_back(num_rows);
  }
  write_arrow_table(path, arrow::Table::Make(schema, arrays, num_rows), row_groups, incompressible);
}

}  // namespace frostline::data
