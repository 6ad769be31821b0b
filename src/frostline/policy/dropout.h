#pragma once

#include <cstdint>
#include <optional>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

namespace frostline::policy {

/// Inverted dropout whose masks depend on (seed, step) and the order of calls alone. One thread.
class Dropout {
 public:
  /// Off: returns what it is given.
  Dropout() = default;
  /// Draws from `generator`, which the caller owns (a CUDA graph registers it).
  Dropout(double probability, at::Generator generator);
  /// CPU masks of training step `step`: a resumed run draws what an uninterrupted one would have.
  Dropout(double probability, std::uint64_t seed, std::uint64_t step);

  bool is_on() const { return probability_ > 0; }

  double probability() const { return probability_; }

  at::Tensor operator()(const at::Tensor& x);

 private:
  double probability_ = 0;
  std::optional<at::Generator> generator_;
};

}  // namespace frostline::policy
