#include "frostline/eval/statistics.h"

#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"

namespace frostline::eval {
namespace {

using ::testing::HasSubstr;

template <class Action>
std::string usage_error(Action action) {
  try {
    action();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUsage);
    return e.what();
  }
  return "no error";
}

TEST(Wilson, MatchesPublishedVectors) {
  const Interval large = wilson_interval(840, 900);
  EXPECT_NEAR(large.low, 0.915, 5e-4);
  EXPECT_NEAR(large.high, 0.948, 5e-4);
  const Interval small = wilson_interval(280, 300);
  EXPECT_NEAR(small.low, 0.899, 5e-4);
  EXPECT_NEAR(small.high, 0.956, 5e-4);
}

TEST(Wilson, StaysWithinZeroAndOneAtTheEnds) {
  EXPECT_EQ(wilson_interval(0, 20).low, 0);
  EXPECT_NEAR(wilson_interval(0, 20).high, 3.8415 / 23.8415, 1e-4);
  EXPECT_EQ(wilson_interval(20, 20).high, 1);
  EXPECT_NEAR(wilson_interval(20, 20).low, 20 / 23.8415, 1e-4);
}

TEST(Wilson, IsNarrowerAtNinetyPercent) {
  const Interval wide = wilson_interval(12, 20);
  const Interval narrow = wilson_interval(12, 20, Confidence::k90);
  EXPECT_GT(narrow.low, wide.low);
  EXPECT_LT(narrow.high, wide.high);
}

TEST(Wilson, RefusesCountsThatDoNotFit) {
  EXPECT_THAT(usage_error([] { wilson_interval(0, 0); }), HasSubstr("successes=0 trials=0"));
  EXPECT_THAT(usage_error([] { wilson_interval(3, 2); }), HasSubstr("successes=3 trials=2"));
  EXPECT_THAT(usage_error([] { wilson_interval(-1, 2); }), HasSubstr("do not fit together"));
}

TEST(McNemar, MatchesPublishedVectors) {
  EXPECT_NEAR(mcnemar_exact(43, 26), 0.053, 5e-4);
  EXPECT_NEAR(mcnemar_mid_p(43, 26), 0.041, 5e-4);
  EXPECT_NEAR(mcnemar_exact(30, 17), 0.079, 5e-4);
  EXPECT_NEAR(mcnemar_mid_p(30, 17), 0.0595, 5e-5);
}

TEST(McNemar, KnownByHandForFewPairs) {
  EXPECT_NEAR(mcnemar_exact(5, 0), 2.0 / 32, 1e-12);
  EXPECT_NEAR(mcnemar_mid_p(5, 0), 1.0 / 32, 1e-12);
  EXPECT_NEAR(mcnemar_mid_p(0, 5), 1.0 / 32, 1e-12);
  EXPECT_NEAR(mcnemar_exact(3, 1), 10.0 / 16, 1e-12);
  EXPECT_NEAR(mcnemar_mid_p(3, 1), 6.0 / 16, 1e-12);
}

TEST(McNemar, EqualCountsShowNothing) {
  EXPECT_EQ(mcnemar_exact(0, 0), 1);
  EXPECT_EQ(mcnemar_mid_p(0, 0), 1);
  EXPECT_NEAR(mcnemar_mid_p(4, 4), 1, 1e-12);
}

TEST(McNemar, ManyPairsStayFinite) {
  const double p = mcnemar_mid_p(5000, 4800);
  EXPECT_GT(p, 0.04);
  EXPECT_LT(p, 0.05);
}

TEST(Tango, MatchesPublishedVectors) {
  const Interval large = tango_interval({900, 43, 26});
  EXPECT_NEAR(100 * large.low, 0.082, 5e-4);
  EXPECT_NEAR(100 * large.high, 3.772, 5e-4);
  const Interval small = tango_interval({54, 9, 1});
  EXPECT_NEAR(small.low, 0.0413, 5e-5);
  EXPECT_NEAR(small.high, 0.2733, 5e-5);
  const Interval none = tango_interval({30, 0, 0});
  EXPECT_NEAR(none.low, -0.1135, 5e-5);
  EXPECT_NEAR(none.high, 0.1135, 5e-5);
}

TEST(Tango, ExchangingThePoliciesTurnsTheIntervalAround) {
  for (const PairCounts& counts : {PairCounts{54, 9, 1}, {20, 20, 0}, {20, 3, 7}, {7, 0, 1}}) {
    const Interval forth = tango_interval(counts);
    const Interval back = tango_interval({counts.pairs, counts.b_only, counts.a_only});
    EXPECT_NEAR(forth.low, -back.high, 1e-12);
    EXPECT_NEAR(forth.high, -back.low, 1e-12);
  }
}

TEST(Tango, ExcludesZeroExactlyWhenTheScoreTestRejects) {
  for (std::int64_t b = 0; b <= 20; ++b) {
    for (std::int64_t c = 0; b + c <= 40; c += 3) {
      if (b + c == 0) {
        continue;
      }
      const double chi = static_cast<double>((b - c) * (b - c)) / static_cast<double>(b + c);
      const Interval interval = tango_interval({50, b, c});
      EXPECT_EQ(chi > 3.8414588, interval.low > 0 || interval.high < 0) << b << " " << c;
    }
  }
}

TEST(Tango, NinetyPercentLiesWithinNinetyFive) {
  const Interval wide = tango_interval({54, 9, 1});
  const Interval narrow = tango_interval({54, 9, 1}, Confidence::k90);
  EXPECT_GT(narrow.low, wide.low);
  EXPECT_LT(narrow.high, wide.high);
}

TEST(Tango, RefusesCountsThatDoNotFit) {
  EXPECT_THAT(usage_error([] { tango_interval({2, 2, 1}); }),
              HasSubstr("pairs=2 a_only=2 b_only=1"));
  EXPECT_THAT(usage_error([] { tango_interval({0, 0, 0}); }), HasSubstr("do not fit"));
  EXPECT_THAT(usage_error([] { mcnemar_mid_p(-1, 0); }), HasSubstr("must not be negative"));
  EXPECT_THAT(usage_error([] { mcnemar_exact(0, -1); }), HasSubstr("must not be negative"));
}

TEST(Compare, NamesTheBetterPolicy) {
  EXPECT_EQ(compare({900, 43, 26}).verdict, Verdict::kABetter);
  EXPECT_EQ(compare({900, 26, 43}).verdict, Verdict::kBBetter);
  EXPECT_THAT(describe(compare({900, 43, 26}), "gpu_only", "live"),
              "gpu_only succeeds more often than live, by 0.1 points to 3.8 points");
  EXPECT_THAT(describe(compare({900, 26, 43}), "gpu_only", "live"),
              "live succeeds more often than gpu_only, by 0.1 points to 3.8 points");
}

TEST(Compare, NonInferiorityNeedsAMarginAboveTheNinetyPercentLimit) {
  const PairCounts counts{300, 10, 9};
  const double limit = tango_interval(counts, Confidence::k90).high;
  EXPECT_EQ(compare(counts).verdict, Verdict::kNoDifferenceShown);
  EXPECT_EQ(compare(counts, limit + 1e-6).verdict, Verdict::kNonInferior);
  EXPECT_EQ(compare(counts, limit - 1e-6).verdict, Verdict::kNoDifferenceShown);
  EXPECT_THAT(describe(compare(counts, 0.05), "gpu_only", "live"),
              "live is not inferior to gpu_only: any loss is below the margin of 5.0 points");
}

TEST(Compare, NoDifferenceIsWordedAsABoundNotAsEquality) {
  const PairedComparison comparison = compare({30, 0, 0});
  EXPECT_EQ(comparison.verdict, Verdict::kNoDifferenceShown);
  EXPECT_THAT(describe(comparison, "gpu_only", "live"),
              HasSubstr("no difference larger than 11.4 points between gpu_only and live"));
}

TEST(Compare, BetterWinsOverNonInferior) {
  EXPECT_EQ(compare({900, 43, 26}, 0.2).verdict, Verdict::kABetter);
}

TEST(Compare, RefusesAMarginInPercent) {
  EXPECT_THAT(usage_error([] { compare({30, 1, 1}, 5.0); }), HasSubstr("0.05 is 5 points"));
}

TEST(PairOutcomes, PairsCommonSeedsInAnyOrder) {
  const std::vector<SeedOutcome> a = {{3, true}, {1, true}, {2, false}, {9, true}, {4, true}};
  const std::vector<SeedOutcome> b = {{1, false}, {2, true}, {3, true}, {4, false}, {8, true}};
  const PairCounts counts = pair_outcomes(a, b);
  EXPECT_EQ(counts.pairs, 4);
  EXPECT_EQ(counts.a_only, 2);
  EXPECT_EQ(counts.b_only, 1);
}

TEST(PairOutcomes, RefusesRepeatedOrForeignSeeds) {
  const std::vector<SeedOutcome> a = {{1, true}, {1, false}};
  const std::vector<SeedOutcome> b = {{2, true}};
  EXPECT_THAT(usage_error([&] { pair_outcomes(a, b); }), HasSubstr("list=a env_seed=1"));
  EXPECT_THAT(usage_error([&] { pair_outcomes(b, a); }), HasSubstr("list=b env_seed=1"));
  const std::vector<SeedOutcome> c = {{5, true}};
  EXPECT_THAT(usage_error([&] { pair_outcomes(b, c); }),
              HasSubstr("no environment seed in common"));
}

TEST(Verdict, HasStableNames) {
  EXPECT_EQ(to_string(Verdict::kNoDifferenceShown), "no_difference_shown");
  EXPECT_EQ(to_string(Verdict::kABetter), "a_better");
  EXPECT_EQ(to_string(Verdict::kBBetter), "b_better");
  EXPECT_EQ(to_string(Verdict::kNonInferior), "non_inferior");
}

}  // namespace
}  // namespace frostline::eval
