#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace frostline::policy {

/// Scales rows to zero mean and unit standard deviation. Immutable once made.
/// Source: LeRobot 0.6.1, MEAN_STD: (x - mean) / (std + 1e-8), inverse x * std + mean.
class Normaliser {
 public:
  /// Smallest standard deviation: a joint that hardly moves would amplify its noise.
  static constexpr float kSmallestStd = 0.01F;

  Normaliser() = default;
  /// Raises standard deviations below `smallest_std`; see `raised`.
  /// Errors: `kData` for sizes that differ, no entries, or a value that is not finite.
  Normaliser(std::vector<float> mean, std::vector<float> std, float smallest_std = kSmallestStd);

  std::size_t size() const { return mean_.size(); }

  const std::vector<float>& mean() const { return mean_; }

  const std::vector<float>& std() const { return std_; }

  /// Indices whose standard deviation was raised, to be reported.
  const std::vector<std::size_t>& raised() const { return raised_; }

  /// Whole rows, in place. Errors: `kInternal` when not a multiple of `size`.
  void normalise(std::span<float> rows) const;
  void unnormalise(std::span<float> rows) const;

 private:
  std::vector<float> mean_;
  std::vector<float> std_;
  std::vector<std::size_t> raised_;
};

}  // namespace frostline::policy
