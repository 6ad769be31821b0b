#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frostline/core/tensor.h"

namespace frostline::data {

/// True when this build can read and write Parquet (Arrow).
bool is_parquet_supported();

/// How the values of one row are nested in a Parquet column.
enum class ColumnLayout {
  kScalar,
  kList,        ///< Variable-size list type; every row has `width` elements.
  kFixedList,   ///< Fixed-size list type of `width` elements.
  kPerChannel,  ///< Three nested lists of shape `width` x 1 x 1, as LeRobot stores image
                ///< statistics.
  kText,
  kTextList,
  kImage,  ///< struct{bytes, path}; `texts` holds the encoded bytes.
};

/// One column to be written.
struct ColumnData {
  std::string name;
  ColumnLayout layout = ColumnLayout::kScalar;
  DType dtype = DType::kF64;  ///< Stored type of `numbers`.
  std::int64_t width = 1;
  std::vector<double> numbers = {};  ///< Row-major, `width` a row.
  std::vector<std::string> texts = {};
  std::vector<std::vector<std::string>> text_lists = {};

  std::int64_t num_rows() const;
  /// Appends the rows of a column of the same name and layout.
  void append(ColumnData&& rows);
};

/// Numbers of one column. Shape: [rows, width].
struct Numbers {
  std::int64_t width = 1;
  bool is_list = false;
  std::vector<double> values;
};

/// How a Parquet file is laid out.
struct ParquetOptions {
  std::map<std::string, std::string> metadata = {};  ///< Key-value metadata of the schema.
  std::vector<std::int64_t> row_groups = {};  ///< Lengths of the row groups; empty: one group.
};

/// Writes atomically. Errors: `kInternal` when columns differ in length; `kIo`; `kUnsupported`
/// without Arrow.
void write_parquet(const std::filesystem::path& path,
                   const std::vector<ColumnData>& columns,
                   const ParquetOptions& options);

/// A Parquet file opened for reading. One thread.
class ParquetFile {
 public:
  /// Errors: `kIo` when there is no file; `kData` when it is damaged (for example without footer);
  /// `kUnsupported` without Arrow.
  explicit ParquetFile(const std::filesystem::path& path);
  ParquetFile(ParquetFile&&) noexcept;
  ParquetFile& operator=(ParquetFile&&) noexcept;
  ParquetFile(const ParquetFile&) = delete;
  ParquetFile& operator=(const ParquetFile&) = delete;
  ~ParquetFile();

  const std::filesystem::path& path() const;
  std::int64_t num_rows() const;
  std::vector<std::string> column_names() const;
  bool has_column(const std::string& name) const;
  /// Empty when there is no such key.
  std::string metadata(const std::string& key) const;

  /// Numbers, booleans, and (nested) lists of them, flattened a row.
  /// Errors (also of the readers below): `kData` naming file and column when the column is absent,
  /// holds nulls, is ragged or of another type, or when its bytes are damaged.
  Numbers read_numbers(const std::string& column) const;
  std::vector<std::string> read_texts(const std::string& column) const;
  std::vector<std::vector<std::string>> read_text_lists(const std::string& column) const;

  int num_row_groups() const;
  std::int64_t row_group_length(int row_group) const;
  /// Encoded images (struct{bytes, path} or binary) of one row group.
  std::vector<std::string> read_images(const std::string& column, int row_group) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace frostline::data
