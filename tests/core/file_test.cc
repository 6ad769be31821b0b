#include "frostline/core/file.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "tests/support/temp_folder.h"

namespace frostline {
namespace {

TEST(File, AtomicWriteReplacesTheWholeContent) {
  const test::TempFolder folder;
  const auto path = folder.path() / "nested" / "a.txt";
  write_file_atomic(path, "first, long content");
  write_file_atomic(path, "second");
  EXPECT_EQ(read_file(path), "second");
}

TEST(File, FailedWriteKeepsTheOldFileAndLeavesNothingBeside) {
  const test::TempFolder folder;
  const auto path = folder.path() / "a.txt";
  write_file_atomic(path, "old");
  EXPECT_THROW(replace_file(path,
                            [](const std::filesystem::path& temporary) {
                              write_file_atomic(temporary, "half");
                              throw std::runtime_error("disk full");
                            }),
               std::runtime_error);
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(File, MissingFileIsNamed) {
  try {
    read_file("/nonexistent/frostline");
    FAIL() << "must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_NE(std::string(error.what()).find("path=/nonexistent/frostline"), std::string::npos);
  }
}

TEST(File, MappedFileShowsTheBytes) {
  const test::TempFolder folder;
  write_file_atomic(folder.path() / "m", "mapped");
  const MappedFile file(folder.path() / "m");
  ASSERT_EQ(file.bytes().size(), 6U);
  EXPECT_EQ(std::to_integer<char>(file.bytes()[0]), 'm');
}

}  // namespace
}  // namespace frostline
