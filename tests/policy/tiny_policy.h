#pragma once

#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "frostline/policy/ar_actor_expert.h"

namespace frostline::test {

/// Small enough for milliseconds; sizes differ pairwise, so that a mix-up shows.
inline policy::ArActorSpec tiny_spec() {
  policy::ArActorSpec spec;
  spec.image_height_px = 64;
  spec.image_width_px = 96;
  spec.backbone_width = 4;
  spec.dim = 32;
  spec.num_heads = 4;
  spec.ffn_dim = 48;
  spec.state_dim = 5;
  spec.action_dim = 3;
  spec.latent_dim = 6;
  spec.history = 4;
  spec.chunk = 7;
  spec.test_history = 10;
  spec.vision_interval = 7;
  return spec;
}

/// Deterministic values in about ±1.
inline at::Tensor wave(at::IntArrayRef shape, double frequency = 0.37) {
  std::int64_t n = 1;
  for (const std::int64_t size : shape) {
    n *= size;
  }
  return at::arange(n, at::kFloat).mul_(frequency).sin_().view(shape);
}

inline at::Tensor test_image(const policy::ArActorSpec& spec, std::int64_t batch) {
  const std::int64_t n = batch * spec.image_height_px * spec.image_width_px * 3;
  return at::arange(n, at::kLong)
      .mul_(37)
      .remainder_(251)
      .to(at::kByte)
      .view({batch, spec.image_height_px, spec.image_width_px, 3});
}

/// Everything valid, nothing padded, nothing dropped.
inline policy::ExpertBatch full_batch(const policy::ArActorSpec& spec, std::int64_t batch) {
  policy::ExpertBatch result;
  const std::int64_t states = spec.history + spec.chunk;
  result.states = wave({batch, states, spec.state_dim});
  result.valid = at::ones({batch, states}, at::kBool);
  result.actions = wave({batch, spec.chunk, spec.action_dim}, 0.61);
  result.action_is_pad = at::zeros({batch, spec.chunk}, at::kBool);
  return result;
}

/// True where the gradient is zero at the start: the parallel branch attends to zeros, through
/// biases that begin at zero.
inline bool starts_without_gradient(const std::string& name) {
  const std::string layer = "model.act_decoder.layers.0.";
  return name == layer + "self_attn.in_proj_weight" ||
         name == layer + "self_attn.out_proj.weight" || name == layer + "norm1.weight";
}

/// An initialised encoder and expert of `tiny_spec`.
struct TinyPolicy {
  policy::ArActorSpec spec = tiny_spec();
  policy::ParameterSet encoder{policy::encoder_parameter_specs(spec)};
  policy::ParameterSet expert{policy::expert_parameter_specs(spec)};

  explicit TinyPolicy(std::uint64_t seed = 7) {
    encoder.initialise(seed);
    expert.initialise(seed);
  }
};

}  // namespace frostline::test
