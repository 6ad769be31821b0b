#include "frostline/train/options.h"

#include <gtest/gtest.h>

#include "frostline/core/error.h"

namespace frostline::train {
namespace {

ErrorCode code_of(const std::string& source) {
  try {
    source_from(source);
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::kInternal;
}

TEST(Source, NamesGoThereAndBack) {
  for (const auto source : {Source::kInline, Source::kLive, Source::kCached}) {
    EXPECT_EQ(source_from(to_string(source)), source);
  }
}

TEST(Source, AutoNeedsAPlannerAndOthersAreUnknown) {
  EXPECT_EQ(code_of("auto"), ErrorCode::kUnsupported);
  EXPECT_EQ(code_of("lvie"), ErrorCode::kUsage);
}

TEST(LoopOptions, OutOfRangeNamesTheOption) {
  LoopOptions options;
  options.steps = 10;
  options.learning_rate = 1e-4;
  EXPECT_NO_THROW(check(options));
  options.batch_size = 0;
  try {
    check(options);
    FAIL() << "must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_STREQ(error.what(), "option out of range: --batch-size=0 ; at least 1");
  }
}

}  // namespace
}  // namespace frostline::train
