#include "frostline/policy/normaliser.h"

#include <array>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"

namespace frostline::policy {
namespace {

TEST(Normaliser, ScalesRowsAndBack) {
  const Normaliser normaliser({1.0F, -2.0F}, {2.0F, 0.5F});
  std::array<float, 4> rows{3.0F, -2.0F, 1.0F, -1.0F};
  normaliser.normalise(rows);
  EXPECT_THAT(rows, testing::Pointwise(testing::FloatNear(1e-6F), {1.0F, 0.0F, 0.0F, 2.0F}));
  normaliser.unnormalise(rows);
  EXPECT_THAT(rows, testing::Pointwise(testing::FloatNear(1e-6F), {3.0F, -2.0F, 1.0F, -1.0F}));
}

TEST(Normaliser, RaisesSmallDeviationsAndReportsThem) {
  const Normaliser normaliser({0, 0, 0}, {0.5F, 0.009F, 0.0F});
  EXPECT_THAT(normaliser.raised(), testing::ElementsAre(1, 2));
  EXPECT_THAT(normaliser.std(), testing::ElementsAre(0.5F, 0.01F, 0.01F));
}

TEST(Normaliser, RefusesUnusableStatistics) {
  try {
    Normaliser({0, 1}, {1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_THAT(error.what(), testing::HasSubstr("mean=2 std=1 entries"));
  }
  EXPECT_THROW(Normaliser({}, {}), Error);
  EXPECT_THROW(Normaliser({0}, {std::numeric_limits<float>::quiet_NaN()}), Error);
  EXPECT_THROW(Normaliser({0}, {-1}), Error);
}

}  // namespace
}  // namespace frostline::policy
