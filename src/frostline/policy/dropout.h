#pragma once

#include <cstdint>
#include <optional>

#include <ATen/core/Tensor.h>

namespace frostline::policy {

/// Inverted dropout. One thread.
class Dropout {
 public:
  /// Off: returns what it is given.
  Dropout() = default;
  /// CPU masks that depend on (`seed`, `step`) and the order of calls alone: a resumed run draws
  /// what an uninterrupted one would have. The probability is rounded to 1/65536.
  Dropout(double probability, std::uint64_t seed, std::uint64_t step);
  /// Draws from the device's default generator, which a CUDA graph registers; the caller seeds it
  /// with `dropout_seed` before each step.
  static Dropout from_device_generator(double probability);

  bool is_on() const { return probability_ > 0; }

  /// True when attention may leave dropout to the device's fused kernel.
  bool uses_device_generator() const { return is_on() && !state_.has_value(); }

  double probability() const { return probability_; }

  at::Tensor operator()(const at::Tensor& x);

 private:
  double probability_ = 0;
  std::optional<std::uint64_t> state_;
};

/// Seed of a generator for the masks of one training step.
std::uint64_t dropout_seed(std::uint64_t seed, std::uint64_t step);

}  // namespace frostline::policy
