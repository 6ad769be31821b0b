#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/util/float16.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>

#include "frostline/core/error.h"
#include "frostline/data/parquet/arrow_status.h"
#include "frostline/data/parquet/columns.h"

namespace frostline::data {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kDamaged =
    "Parquet file is damaged (a writer that was killed leaves one without a footer)";

[[noreturn]] void fail(const fs::path& path, const std::string& column, std::string_view what) {
  throw Error(ErrorCode::kData,
              fmt::format("column {}", what),
              fmt::format("file={} column={}", path.string(), column));
}

/// Parquet throws where Arrow returns; both become `kData`.
template <class Function>
auto translated(const fs::path& path, Function function) {
  try {
    return function();
  } catch (const parquet::ParquetException& error) {
    throw Error(
        ErrorCode::kData, kDamaged, fmt::format("file={} ; {}", path.string(), error.what()));
  }
}

template <class Array>
void append_values(const arrow::Array& array, std::vector<double>& out) {
  const auto& typed = static_cast<const Array&>(array);
  for (std::int64_t i = 0; i < typed.length(); ++i) {
    out.push_back(static_cast<double>(typed.Value(i)));
  }
}

bool append_flat(const arrow::Array& array, std::vector<double>& out) {
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      append_values<arrow::BooleanArray>(array, out);
      return true;
    case arrow::Type::INT8:
      append_values<arrow::Int8Array>(array, out);
      return true;
    case arrow::Type::INT16:
      append_values<arrow::Int16Array>(array, out);
      return true;
    case arrow::Type::INT32:
      append_values<arrow::Int32Array>(array, out);
      return true;
    case arrow::Type::INT64:
      append_values<arrow::Int64Array>(array, out);
      return true;
    case arrow::Type::UINT8:
      append_values<arrow::UInt8Array>(array, out);
      return true;
    case arrow::Type::UINT16:
      append_values<arrow::UInt16Array>(array, out);
      return true;
    case arrow::Type::UINT32:
      append_values<arrow::UInt32Array>(array, out);
      return true;
    case arrow::Type::UINT64:
      append_values<arrow::UInt64Array>(array, out);
      return true;
    case arrow::Type::FLOAT:
      append_values<arrow::FloatArray>(array, out);
      return true;
    case arrow::Type::DOUBLE:
      append_values<arrow::DoubleArray>(array, out);
      return true;
    case arrow::Type::HALF_FLOAT: {
      const auto& typed = static_cast<const arrow::HalfFloatArray&>(array);
      for (std::int64_t i = 0; i < typed.length(); ++i) {
        out.push_back(arrow::util::Float16::FromBits(typed.Value(i)).ToDouble());
      }
      return true;
    }
    default:
      return false;
  }
}

/// Peels one level of lists: the elements, and how many each row has (0 when rows differ).
template <class List>
std::pair<std::shared_ptr<arrow::Array>, std::int64_t> peel(const arrow::Array& array) {
  const auto& list = static_cast<const List&>(array);
  const std::int64_t width = list.length() == 0 ? 1 : list.value_length(0);
  for (std::int64_t i = 1; i < list.length(); ++i) {
    if (list.value_length(i) != width) {
      return {nullptr, 0};
    }
  }
  auto values = list.Flatten();
  if (!values.ok()) {
    return {nullptr, 0};
  }
  return {std::move(values).ValueUnsafe(), width};
}

void append_numbers(const std::shared_ptr<arrow::Array>& chunk,
                    const fs::path& path,
                    const std::string& column,
                    Numbers& out) {
  std::shared_ptr<arrow::Array> array = chunk;
  std::int64_t width = 1;
  for (;;) {
    if (array->null_count() > 0) {
      fail(path, column, "holds nulls");
    }
    std::pair<std::shared_ptr<arrow::Array>, std::int64_t> inner;
    if (array->type_id() == arrow::Type::EXTENSION) {
      array = static_cast<const arrow::ExtensionArray&>(*array).storage();
      continue;
    }
    if (array->type_id() == arrow::Type::FIXED_SIZE_LIST) {
      inner = peel<arrow::FixedSizeListArray>(*array);
    } else if (array->type_id() == arrow::Type::LIST) {
      inner = peel<arrow::ListArray>(*array);
    } else if (array->type_id() == arrow::Type::LARGE_LIST) {
      inner = peel<arrow::LargeListArray>(*array);
    } else {
      break;
    }
    out.is_list = true;
    if (inner.first == nullptr) {
      fail(path, column, "is ragged: its rows differ in length");
    }
    array = inner.first;
    width *= inner.second;
  }
  if (chunk->length() > 0) {
    if (!out.values.empty() && width != out.width) {
      fail(path, column, "is ragged: its rows differ in length");
    }
    out.width = width;
  }
  if (!append_flat(*array, out.values)) {
    fail(path, column, fmt::format("is no number column: type={}", chunk->type()->ToString()));
  }
}

template <class Array>
void append_strings(const arrow::Array& array, std::vector<std::string>& out) {
  const auto& typed = static_cast<const Array&>(array);
  for (std::int64_t i = 0; i < typed.length(); ++i) {
    out.emplace_back(typed.GetView(i));
  }
}

/// Text or binary of either offset width.
void append_texts(const arrow::Array& array,
                  const fs::path& path,
                  const std::string& column,
                  std::vector<std::string>& out) {
  if (array.null_count() > 0) {
    fail(path, column, "holds nulls");
  }
  switch (array.type_id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      append_strings<arrow::BinaryArray>(array, out);
      return;
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      append_strings<arrow::LargeBinaryArray>(array, out);
      return;
    default:
      fail(path, column, fmt::format("holds no text: type={}", array.type()->ToString()));
  }
}

}  // namespace

bool is_parquet_supported() {
  return true;
}

struct ParquetFile::Impl {
  fs::path path;
  std::unique_ptr<parquet::arrow::FileReader> reader;
  std::shared_ptr<arrow::Schema> schema;

  int index_of(const std::string& column) const {
    const int index = schema->GetFieldIndex(column);
    if (index < 0) {
      throw Error(ErrorCode::kData,
                  "column is missing",
                  fmt::format("file={} column={} ; it has: {}",
                              path.string(),
                              column,
                              fmt::join(schema->field_names(), ", ")));
    }
    return index;
  }

  std::shared_ptr<arrow::ChunkedArray> read(int index) const {
    return translated(path, [&] {
      std::shared_ptr<arrow::ChunkedArray> column;
      require_ok(reader->ReadColumn(index, &column), ErrorCode::kData, kDamaged, path);
      return column;
    });
  }
};

ParquetFile::ParquetFile(const fs::path& path) : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  const auto file = value_or_throw(
      arrow::io::ReadableFile::Open(path.string()), ErrorCode::kIo, "cannot open file", path);
  translated(path, [&] {
    impl_->reader = value_or_throw(parquet::arrow::OpenFile(file, arrow::default_memory_pool()),
                                   ErrorCode::kData,
                                   kDamaged,
                                   path);
    require_ok(impl_->reader->GetSchema(&impl_->schema), ErrorCode::kData, kDamaged, path);
  });
}

ParquetFile::ParquetFile(ParquetFile&&) noexcept = default;
ParquetFile& ParquetFile::operator=(ParquetFile&&) noexcept = default;
ParquetFile::~ParquetFile() = default;

const fs::path& ParquetFile::path() const {
  return impl_->path;
}

std::int64_t ParquetFile::num_rows() const {
  return impl_->reader->parquet_reader()->metadata()->num_rows();
}

std::vector<std::string> ParquetFile::column_names() const {
  return impl_->schema->field_names();
}

bool ParquetFile::has_column(const std::string& name) const {
  return impl_->schema->GetFieldIndex(name) >= 0;
}

std::string ParquetFile::metadata(const std::string& key) const {
  const auto metadata = impl_->reader->parquet_reader()->metadata()->key_value_metadata();
  if (metadata == nullptr || !metadata->Contains(key)) {
    return {};
  }
  return metadata->Get(key).ValueOr("");
}

Numbers ParquetFile::read_numbers(const std::string& column) const {
  Numbers numbers;
  const auto chunks = impl_->read(impl_->index_of(column));
  for (const auto& chunk : chunks->chunks()) {
    append_numbers(chunk, impl_->path, column, numbers);
  }
  return numbers;
}

std::vector<std::string> ParquetFile::read_texts(const std::string& column) const {
  std::vector<std::string> texts;
  const auto chunks = impl_->read(impl_->index_of(column));
  for (const auto& chunk : chunks->chunks()) {
    append_texts(*chunk, impl_->path, column, texts);
  }
  return texts;
}

std::vector<std::vector<std::string>> ParquetFile::read_text_lists(
    const std::string& column) const {
  std::vector<std::vector<std::string>> rows;
  const auto chunks = impl_->read(impl_->index_of(column));
  for (const auto& chunk : chunks->chunks()) {
    if (chunk->type_id() != arrow::Type::LIST || chunk->null_count() > 0) {
      fail(impl_->path, column, fmt::format("holds no lists: type={}", chunk->type()->ToString()));
    }
    const auto& list = static_cast<const arrow::ListArray&>(*chunk);
    for (std::int64_t i = 0; i < list.length(); ++i) {
      append_texts(*list.value_slice(i), impl_->path, column, rows.emplace_back());
    }
  }
  return rows;
}

int ParquetFile::num_row_groups() const {
  return impl_->reader->num_row_groups();
}

std::int64_t ParquetFile::row_group_length(int row_group) const {
  return impl_->reader->parquet_reader()->metadata()->RowGroup(row_group)->num_rows();
}

std::vector<std::string> ParquetFile::read_images(const std::string& column, int row_group) const {
  const int index = impl_->index_of(column);
  const auto chunks = translated(impl_->path, [&] {
    std::shared_ptr<arrow::ChunkedArray> read;
    require_ok(impl_->reader->RowGroup(row_group)->Column(index)->Read(&read),
               ErrorCode::kData,
               kDamaged,
               impl_->path);
    return read;
  });
  std::vector<std::string> images;
  for (const auto& chunk : chunks->chunks()) {
    if (chunk->type_id() == arrow::Type::STRUCT) {
      const auto bytes = static_cast<const arrow::StructArray&>(*chunk).GetFieldByName("bytes");
      if (bytes == nullptr) {
        fail(impl_->path, column, "has no field 'bytes': images outside Parquet are not supported");
      }
      append_texts(*bytes, impl_->path, column, images);
    } else {
      append_texts(*chunk, impl_->path, column, images);
    }
  }
  return images;
}

ArrowColumns read_arrow_columns(const fs::path& path) {
  const auto file = value_or_throw(
      arrow::io::ReadableFile::Open(path.string()), ErrorCode::kIo, "cannot open file", path);
  return translated(path, [&] {
    const auto reader = value_or_throw(parquet::arrow::OpenFile(file, arrow::default_memory_pool()),
                                       ErrorCode::kData,
                                       kDamaged,
                                       path);
    ArrowColumns read;
    require_ok(reader->GetSchema(&read.schema), ErrorCode::kData, kDamaged, path);
    read.num_rows = reader->parquet_reader()->metadata()->num_rows();
    for (int i = 0; i < read.schema->num_fields(); ++i) {
      require_ok(
          reader->ReadColumn(i, &read.columns.emplace_back()), ErrorCode::kData, kDamaged, path);
    }
    return read;
  });
}

}  // namespace frostline::data
