#include "frostline/core/error.h"

#include <gtest/gtest.h>

namespace frostline {
namespace {

TEST(Error, TextJoinsMessageAndContext) {
  const Error error(ErrorCode::kData, "episode length is zero", "episode=12 ; run verify");
  EXPECT_STREQ(error.what(), "episode length is zero: episode=12 ; run verify");
  EXPECT_EQ(error.code(), ErrorCode::kData);
}

TEST(Error, ExitCodesAreThoseOfTheDocs) {
  EXPECT_EQ(exit_code(ErrorCode::kUsage), 2);
  EXPECT_EQ(exit_code(ErrorCode::kConfig), 2);
  EXPECT_EQ(exit_code(ErrorCode::kData), 3);
  EXPECT_EQ(exit_code(ErrorCode::kIo), 3);
  EXPECT_EQ(exit_code(ErrorCode::kUnsupported), 4);
  EXPECT_EQ(exit_code(ErrorCode::kDevice), 4);
  EXPECT_EQ(exit_code(ErrorCode::kDeviceLost), 4);
  EXPECT_EQ(exit_code(ErrorCode::kResource), 4);
  EXPECT_EQ(exit_code(ErrorCode::kNumeric), 5);
  EXPECT_EQ(exit_code(ErrorCode::kInterrupted), 130);
  EXPECT_EQ(exit_code(ErrorCode::kInternal), 70);
}

TEST(Error, CheckNamesTheConditionAndThePlace) {
  try {
    FROSTLINE_CHECK(1 + 1 == 3);
    FAIL() << "must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInternal);
    EXPECT_NE(std::string(error.what()).find("1 + 1 == 3 at "), std::string::npos);
  }
}

TEST(Error, RequireThrowsTheGivenCode) {
  EXPECT_THROW(FROSTLINE_REQUIRE(false, ErrorCode::kUsage, "no", "x=1"), Error);
  EXPECT_NO_THROW(FROSTLINE_REQUIRE(true, ErrorCode::kUsage, "no", "x=1"));
}

}  // namespace
}  // namespace frostline
