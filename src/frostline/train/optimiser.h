#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "frostline/policy/parameters.h"
#include "frostline/train/options.h"

namespace frostline::train {

/// Options of `Optimiser`.
struct OptimiserOptions {
  double learning_rate = 1e-4;
  std::int64_t warmup_steps = 0;  ///< Linear from 0.
  std::int64_t total_steps = 1;   ///< Cosine to 0 at the end.
  double weight_decay = 1e-4;
  double gradient_clip = 10;  ///< Largest norm over all gradients.
  double ema_decay = 0;       ///< 0 = no average.
};

OptimiserOptions optimiser_options(const LoopOptions& loop);

/// Parameters at their initial values of `seed`, with gradients.
policy::ParameterSet trainable(std::vector<policy::ParameterSpec> specs,
                               at::Device device,
                               std::uint64_t seed);

/// Learning rate of step `step` (0-based).
double learning_rate_at(const OptimiserOptions& options, std::int64_t step);

/// AdamW with clipping and an exponential average of weights, over one flat buffer. One thread.
/// Source: Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019; betas 0.9 and
/// 0.999, eps 1e-8. The average's decay starts low, min(decay, (1 + i) / (10 + i)), so that the
/// random start leaves it.
class Optimiser {
 public:
  /// Borrows `parameters`, whose gradients must be enabled.
  Optimiser(policy::ParameterSet& parameters, const OptimiserOptions& options);

  /// Uses the gradients as they stand, then zeroes them. Returns their norm before clipping, a
  /// scalar tensor on the device: no host synchronisation.
  at::Tensor step(std::int64_t step);

  /// Averaged weights (the weights themselves without an average). Shape: as
  /// `ParameterSet::values`.
  const at::Tensor& averaged() const;

  /// State tensors by name, in place: `exp_avg`, `exp_avg_sq`, `ema` when averaged, `step`.
  std::vector<std::pair<std::string, at::Tensor>> state() const;

 private:
  policy::ParameterSet& parameters_;
  OptimiserOptions options_;
  at::Tensor exp_avg_;
  at::Tensor exp_avg_sq_;
  at::Tensor count_;
  at::Tensor ema_;
};

}  // namespace frostline::train
