#include "frostline/data/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/core/file.h"
#include "tests/support/temp_folder.h"

namespace frostline::data {
namespace {

using test::TempFolder;

TEST(Table, GivesBackWhatWasWritten) {
  const TempFolder folder;
  const Table table{{"task", "seed", "success", "energy_j", "nothing"},
                    {{std::string("cube"), std::int64_t{1} << 60, true, 0.1, {}},
                     {std::string("Würfel"), std::int64_t{-2}, false, {}, {}},
                     {{}, std::int64_t{0}, {}, -1e300, {}}}};
  write_table(folder.path() / "t.parquet", table);
  const Table read = read_table(folder.path() / "t.parquet");
  EXPECT_EQ(read.columns, table.columns);
  EXPECT_EQ(read.rows, table.rows);
}

TEST(Table, KeepsColumnsWithoutRows) {
  const TempFolder folder;
  write_table(folder.path() / "t.parquet", {{"a", "b"}, {}});
  const Table read = read_table(folder.path() / "t.parquet");
  EXPECT_EQ(read.columns.size(), 2U);
  EXPECT_TRUE(read.rows.empty());
}

TEST(Table, RefusesMixedTypesAndRaggedRows) {
  const TempFolder folder;
  const auto text_of = [&](const Table& table) {
    try {
      write_table(folder.path() / "t.parquet", table);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUsage);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(text_of({{"a"}, {{1.0}, {std::int64_t{1}}}}),
              ::testing::HasSubstr("column=a row=1 type=int64 expected=double"));
  EXPECT_THAT(text_of({{"a"}, {{1.0, 2.0}}}), ::testing::HasSubstr("cells=2 columns=1"));
  EXPECT_THAT(text_of({{}, {}}), ::testing::HasSubstr("no columns"));
}

TEST(Table, RefusesATruncatedFileAtEveryLength) {
  const TempFolder folder;
  const auto path = folder.path() / "t.parquet";
  write_table(path, {{"a"}, {{1.5}, {2.5}}});
  const std::string whole = read_file(path);
  for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 40) {
    write_file_atomic(path, std::string_view(whole).substr(0, length));
    try {
      read_table(path);
      FAIL() << "read " << length << " of " << whole.size() << " bytes";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kData);
      EXPECT_THAT(error.what(), ::testing::HasSubstr("t.parquet"));
    }
  }
  try {
    read_table(folder.path() / "none.parquet");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
  }
}

}  // namespace
}  // namespace frostline::data
