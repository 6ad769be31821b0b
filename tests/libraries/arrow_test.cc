#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <unistd.h>

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <gtest/gtest.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>

namespace {

std::shared_ptr<arrow::Table> make_table() {
  arrow::Int64Builder index;
  arrow::FloatBuilder reward;
  EXPECT_TRUE(index.AppendValues({0, 1, 2}).ok());
  EXPECT_TRUE(reward.AppendValues({0.5F, -1.0F, 2.25F}).ok());
  return arrow::Table::Make(arrow::schema({arrow::field("frame_index", arrow::int64()),
                                           arrow::field("reward", arrow::float32())}),
                            {index.Finish().ValueOrDie(), reward.Finish().ValueOrDie()});
}

TEST(Arrow, ReadsBackAParquetFile) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("frostline_arrow_" + std::to_string(getpid()) + ".parquet"))
                               .string();
  const std::shared_ptr<arrow::Table> table = make_table();
  {
    auto output = arrow::io::FileOutputStream::Open(path).ValueOrDie();
    const auto properties =
        parquet::WriterProperties::Builder().compression(parquet::Compression::SNAPPY)->build();
    ASSERT_TRUE(
        parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), output, 1024, properties)
            .ok());
    ASSERT_TRUE(output->Close().ok());
  }
  auto input = arrow::io::ReadableFile::Open(path).ValueOrDie();
  auto reader = parquet::arrow::OpenFile(input, arrow::default_memory_pool()).ValueOrDie();
  const std::shared_ptr<arrow::Table> read = reader->ReadTable().ValueOrDie();
  EXPECT_TRUE(read->Equals(*table));
  std::filesystem::remove(path);
}

}  // namespace
