#include "frostline/core/random.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace frostline {
namespace {

// Known answers of the Random123 distribution (kat_vectors, philox4x32 10 rounds).
TEST(Random, PhiloxKnownAnswers) {
  using Block = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, DependsOnEachPartOfTheKey) {
  std::set<std::uint32_t> first;
  first.insert(Random(1, RandomStream::kDropout, 0).next_u32());
  first.insert(Random(2, RandomStream::kDropout, 0).next_u32());
  first.insert(Random(1, RandomStream::kSampler, 0).next_u32());
  first.insert(Random(1, RandomStream::kDropout, 1).next_u32());
  EXPECT_EQ(first.size(), 4U);
  EXPECT_EQ(Random(1, RandomStream::kDropout, 7).next_u32(),
            Random(1, RandomStream::kDropout, 7).next_u32());
}

TEST(Random, UniformStaysInRangeWithTheRightMean) {
  Random random(3, RandomStream::kBootstrap);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double value = random.next_double();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 5 * 0.2887 / std::sqrt(100'000.0));
}

TEST(Random, PermutationHoldsEachValueOnce) {
  Random random(5, RandomStream::kSampler);
  auto order = random_permutation(1000, random);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (std::int64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  }
}

}  // namespace
}  // namespace frostline
