#include "frostline/core/random.h"

#include <numeric>

namespace frostline {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = kMultiplier0 * counter[0];
    const std::uint64_t p1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(p1),
               static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(p0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

Random::Random(std::uint64_t seed, RandomStream stream, std::uint64_t step)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{0,
               static_cast<std::uint32_t>(stream),
               static_cast<std::uint32_t>(step),
               static_cast<std::uint32_t>(step >> 32)} {}

std::uint32_t Random::next_u32() {
  if (used_ == 4) {
    block_ = philox4x32(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[used_++];
}

float Random::next_float() {
  return static_cast<float>(next_u32() >> 8) * 0x1p-24F;
}

double Random::next_double() {
  const std::uint64_t high = next_u32() >> 5;
  const std::uint64_t low = next_u32() >> 6;
  return static_cast<double>((high << 26) | low) * 0x1p-53;
}

std::uint64_t Random::next_below(std::uint64_t bound) {
  const std::uint64_t limit = (~std::uint64_t{0} / bound) * bound;
  for (;;) {
    const std::uint64_t value = (static_cast<std::uint64_t>(next_u32()) << 32) | next_u32();
    if (value < limit) {
      return value % bound;
    }
  }
}

std::vector<std::int64_t> random_permutation(std::int64_t n, Random& random) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random.next_below(i)]);
  }
  return order;
}

}  // namespace frostline
