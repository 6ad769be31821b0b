#include "frostline/core/error.h"
#include "frostline/data/library_versions.h"
#include "frostline/data/parquet/columns.h"
#include "frostline/data/table.h"

namespace frostline::data {

std::string arrow_version() {
  return {};
}

namespace {

[[noreturn]] void unsupported(const std::filesystem::path& path) {
  throw Error(
      ErrorCode::kUnsupported,
      "this build cannot read or write Parquet",
      "file=" + path.string() + " ; run scripts/setup.sh and build with -DFROSTLINE_WITH_ARROW=ON");
}

}  // namespace

bool is_parquet_supported() {
  return false;
}

struct ParquetFile::Impl {};

ParquetFile::ParquetFile(const std::filesystem::path& path) {
  unsupported(path);
}

ParquetFile::ParquetFile(ParquetFile&&) noexcept = default;
ParquetFile& ParquetFile::operator=(ParquetFile&&) noexcept = default;
ParquetFile::~ParquetFile() = default;

const std::filesystem::path& ParquetFile::path() const {
  unsupported({});
}

std::int64_t ParquetFile::num_rows() const {
  unsupported({});
}

std::vector<std::string> ParquetFile::column_names() const {
  unsupported({});
}

bool ParquetFile::has_column(const std::string& /*name*/) const {
  unsupported({});
}

std::string ParquetFile::metadata(const std::string& /*key*/) const {
  unsupported({});
}

Numbers ParquetFile::read_numbers(const std::string& /*column*/) const {
  unsupported({});
}

std::vector<std::string> ParquetFile::read_texts(const std::string& /*column*/) const {
  unsupported({});
}

std::vector<std::vector<std::string>> ParquetFile::read_text_lists(
    const std::string& /*column*/) const {
  unsupported({});
}

int ParquetFile::num_row_groups() const {
  unsupported({});
}

std::int64_t ParquetFile::row_group_length(int /*row_group*/) const {
  unsupported({});
}

std::vector<std::string> ParquetFile::read_images(const std::string& /*column*/,
                                                  int /*row_group*/) const {
  unsupported({});
}

void write_parquet(const std::filesystem::path& path,
                   const std::vector<ColumnData>& /*columns*/,
                   const ParquetOptions& /*options*/) {
  unsupported(path);
}

void write_table(const std::filesystem::path& path, const Table& /*table*/) {
  unsupported(path);
}

Table read_table(const std::filesystem::path& path) {
  unsupported(path);
}

}  // namespace frostline::data
