#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "frostline/policy/ar_actor_expert.h"
#include "frostline/policy/normaliser.h"

namespace frostline::policy {

/// Options of `ArActorActor`.
struct ActorOptions {
  /// False reproduces published inference, in which empty slots of the ring take attention.
  bool mask_unfilled_slots = true;
};

/// Runs an expert over environments in lock step, one action a step.
///
/// Use: `reset`, then each step `observe_image` when `needs_image`, then `act`. One thread.
class ArActorActor {
 public:
  /// Borrows `expert`.
  ArActorActor(const AutoregressiveBranch& expert,
               Normaliser state,
               Normaliser action,
               ActorOptions options = {});

  /// Forgets everything and starts `num_environments` episodes.
  void reset(std::int64_t num_environments);
  /// True every `vision_interval` steps, the first included.
  bool needs_image() const;
  /// Replaces the prefix; its keys are rotated to the current step.
  void observe_image(const Prefix& prefix);
  /// Units: as recorded in the data set. Shape: [environments, state_dim] -> [environments,
  /// action_dim], fp32 on the CPU. Errors: `kInternal` before `reset` or without a due image.
  at::Tensor act(const at::Tensor& states);

  std::int64_t step() const { return step_; }

 private:
  at::Tensor run_layer(std::size_t layer_index, const at::Tensor& x, const RotaryTable& rotary);

  const AutoregressiveBranch* expert_;
  Normaliser state_;
  Normaliser action_;
  ActorOptions options_;
  std::int64_t num_environments_ = 0;
  std::int64_t step_ = 0;
  std::int64_t last_image_step_ = -1;
  std::vector<at::Tensor> keys_;  // prefix, then ring: [environments, heads, tokens + slots, hd]
  std::vector<at::Tensor> values_;
};

}  // namespace frostline::policy
