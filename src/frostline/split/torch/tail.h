#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "frostline/core/tensor.h"
#include "frostline/policy/ar_actor_encoder.h"

namespace frostline::split {

/// How the boundary tensors of an artefact are coded: value = (code - zero_point) * scale.
struct Coding {
  std::vector<float> scales;
  std::vector<std::int32_t> zero_points;
};

/// The frozen computation that stays with the trainer: decodes what crossed the boundary, runs the
/// remaining layers, and reconstructs keys and values. Immutable; thread-safe.
class FrozenTail {
 public:
  /// Borrows `encoder`. `coding` is empty for inputs that are images or floating point.
  FrozenTail(const policy::ArActorEncoder& encoder, Coding coding);

  /// Shape: one tensor u8 [batch, height, width, 3] (the encoder runs here), or x_0..x_k
  /// [batch, tokens, dim] as i8 codes or f32; on the encoder's device. No gradients.
  policy::Prefix operator()(std::span<const at::Tensor> inputs) const;

  /// x_0..x_4 of the same inputs, for parity.
  std::vector<at::Tensor> boundary_tensors(std::span<const at::Tensor> inputs) const;

 private:
  const policy::ArActorEncoder& encoder_;
  Coding coding_;
};

}  // namespace frostline::split
