#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace frostline {

/// What a random number is for; part of its key, so that one use never disturbs another.
enum class RandomStream : std::uint32_t {
  kInitialWeights = 1,
  kSampler = 2,
  kDropout = 3,
  kHistoryMask = 4,
  kAugmentation = 5,
  kCalibration = 6,
  kBootstrap = 7,
  kControl = 8,
};

/// Counter-based generator: the i-th number depends on (seed, stream, step, i) alone. One thread.
/// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011, Philox4x32-10.
class Random {
 public:
  Random(std::uint64_t seed, RandomStream stream, std::uint64_t step = 0);

  std::uint32_t next_u32();
  /// Uniform in [0, 1) with 24 bits.
  float next_float();
  /// Uniform in [0, 1) with 53 bits.
  double next_double();
  /// Uniform in [0, bound). Unbiased (rejection).
  std::uint64_t next_below(std::uint64_t bound);

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  std::size_t used_ = 4;
};

/// One Philox4x32-10 block, for tests and for device code that must agree.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

/// Permutation of 0..n-1 (Fisher-Yates) drawn from `random`.
std::vector<std::int64_t> random_permutation(std::int64_t n, Random& random);

}  // namespace frostline
