#include "frostline/policy/ar_actor_actor.h"

#include <algorithm>
#include <span>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include "frostline/core/error.h"

namespace frostline::policy {
namespace {

std::span<float> floats_of(const at::Tensor& tensor) {
  return {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

ArActorActor::ArActorActor(const AutoregressiveBranch& expert,
                           Normaliser state,
                           Normaliser action,
                           ActorOptions options)
    : expert_(&expert), state_(std::move(state)), action_(std::move(action)), options_(options) {
  FROSTLINE_CHECK(static_cast<std::int64_t>(state_.size()) == expert.spec().state_dim);
  FROSTLINE_CHECK(static_cast<std::int64_t>(action_.size()) == expert.spec().action_dim);
}

void ArActorActor::reset(std::int64_t num_environments) {
  const ArActorSpec& spec = expert_->spec();
  const at::TensorOptions options =
      at::TensorOptions().dtype(expert_->dtype()).device(expert_->head().weight.device());
  const Shape shape{num_environments,
                    spec.num_heads,
                    spec.num_tokens() + spec.test_history,
                    spec.dim / spec.num_heads};
  keys_.clear();
  values_.clear();
  for (std::int64_t i = 0; i < spec.num_decoder_layers; ++i) {
    keys_.push_back(at::zeros(shape, options));
    values_.push_back(at::zeros(shape, options));
  }
  num_environments_ = num_environments;
  step_ = 0;
  last_image_step_ = -1;
}

bool ArActorActor::needs_image() const {
  return step_ % expert_->spec().vision_interval == 0 && last_image_step_ != step_;
}

void ArActorActor::observe_image(const Prefix& prefix) {
  const ArActorSpec& spec = expert_->spec();
  FROSTLINE_CHECK(!keys_.empty());
  FROSTLINE_CHECK(prefix.memory.size(0) == num_environments_);
  const at::NoGradGuard no_grad;
  const RotaryTable rotary =
      rotary_table(step_, 1, spec.dim / spec.num_heads, keys_.front().device());
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const at::Tensor key = rotate(prefix.keys[i].to(at::kFloat), rotary);
    keys_[i].narrow(2, 0, spec.num_tokens()).copy_(key);
    values_[i].narrow(2, 0, spec.num_tokens()).copy_(prefix.values[i]);
  }
  last_image_step_ = step_;
}

at::Tensor ArActorActor::run_layer(std::size_t layer_index,
                                   const at::Tensor& x,
                                   const RotaryTable& rotary) {
  const ArActorSpec& spec = expert_->spec();
  const SelfAttentionLayer& layer = expert_->layers()[layer_index];
  const at::Tensor h = layer.norm1(x).to(layer.dtype);
  const at::Tensor query = rotate(split_heads(layer.query(h), layer.num_heads), rotary);
  const std::int64_t slot = spec.num_tokens() + step_ % spec.test_history;
  at::Tensor& keys = keys_[layer_index];
  at::Tensor& values = values_[layer_index];
  keys.narrow(2, slot, 1).copy_(rotate(split_heads(layer.key(h), layer.num_heads), rotary));
  values.narrow(2, slot, 1).copy_(split_heads(layer.value(h), layer.num_heads));
  const std::int64_t filled =
      options_.mask_unfilled_slots ? std::min(step_ + 1, spec.test_history) : spec.test_history;
  const std::int64_t visible = spec.num_tokens() + filled;
  Dropout off;
  const at::Tensor attended =
      attention(query, keys.narrow(2, 0, visible), values.narrow(2, 0, visible), {}, off);
  return layer.finish(x, merge_heads(attended), off);
}

at::Tensor ArActorActor::act(const at::Tensor& states) {
  const ArActorSpec& spec = expert_->spec();
  FROSTLINE_CHECK(!keys_.empty() && !needs_image());
  FROSTLINE_CHECK(states.sizes() == at::IntArrayRef({num_environments_, spec.state_dim}));
  const at::NoGradGuard no_grad;
  const at::Device device = keys_.front().device();
  const at::Tensor normalised =
      states.to(at::kCPU, at::kFloat, /*non_blocking=*/false, /*copy=*/true).contiguous();
  state_.normalise(floats_of(normalised));
  const RotaryTable rotary = rotary_table(step_, 1, spec.dim / spec.num_heads, device);
  at::Tensor x = expert_->input()(normalised.to(device)).unsqueeze(1);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    x = run_layer(i, x, rotary);
  }
  ++step_;
  at::Tensor actions =
      expert_->head()(expert_->norm()(x)).squeeze(1).to(at::kCPU, at::kFloat).contiguous();
  action_.unnormalise(floats_of(actions));
  return actions;
}

}  // namespace frostline::policy
