#include "frostline/train/optimiser.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

namespace frostline::train {

OptimiserOptions optimiser_options(const LoopOptions& loop) {
  return {loop.learning_rate,
          loop.warmup_steps,
          loop.steps,
          loop.weight_decay,
          loop.gradient_clip,
          loop.ema_decay};
}

policy::ParameterSet trainable(std::vector<policy::ParameterSpec> specs,
                               at::Device device,
                               std::uint64_t seed) {
  policy::ParameterSet parameters(std::move(specs), device);
  parameters.initialise(seed);
  parameters.enable_gradients();
  return parameters;
}

double learning_rate_at(const OptimiserOptions& options, std::int64_t step) {
  if (step < options.warmup_steps) {
    return options.learning_rate * static_cast<double>(step + 1) /
           static_cast<double>(options.warmup_steps);
  }
  const double span =
      static_cast<double>(std::max<std::int64_t>(options.total_steps - options.warmup_steps, 1));
  const double done = static_cast<double>(step - options.warmup_steps) / span;
  return options.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * std::min(done, 1.0)));
}

Optimiser::Optimiser(policy::ParameterSet& parameters, const OptimiserOptions& options)
    : parameters_(parameters), options_(options) {
  const at::NoGradGuard no_grad;
  exp_avg_ = at::zeros_like(parameters.values());
  exp_avg_sq_ = at::zeros_like(parameters.values());
  count_ = at::zeros({}, parameters.values().options());
  if (options.ema_decay > 0) {
    ema_ = parameters.values().detach().clone();
  }
}

at::Tensor Optimiser::step(std::int64_t step) {
  const at::NoGradGuard no_grad;
  const at::Tensor& gradients = parameters_.gradients();
  const at::Tensor norm = at::linalg_vector_norm(gradients);
  gradients.mul_((options_.gradient_clip / (norm + 1e-6)).clamp_max(1.0));
  at::_fused_adamw_({parameters_.values()},
                    {gradients},
                    {exp_avg_},
                    {exp_avg_sq_},
                    {},
                    {count_.add_(1)},
                    learning_rate_at(options_, step),
                    0.9,
                    0.999,
                    options_.weight_decay,
                    1e-8,
                    false,
                    false);
  parameters_.zero_gradients();
  if (options_.ema_decay > 0) {
    const auto i = static_cast<double>(step);
    const double decay = std::min(options_.ema_decay, (1 + i) / (10 + i));
    ema_.lerp_(parameters_.values(), 1 - decay);
  }
  return norm;
}

const at::Tensor& Optimiser::averaged() const {
  return ema_.defined() ? ema_ : parameters_.values();
}

std::vector<std::pair<std::string, at::Tensor>> Optimiser::state() const {
  std::vector<std::pair<std::string, at::Tensor>> state = {
      {"exp_avg", exp_avg_}, {"exp_avg_sq", exp_avg_sq_}, {"step", count_}};
  if (ema_.defined()) {
    state.emplace_back("ema", ema_);
  }
  return state;
}

}  // namespace frostline::train
