#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "frostline/policy/ar_actor_spec.h"
#include "frostline/policy/parameters.h"
#include "frostline/policy/resnet.h"
#include "frostline/policy/transformer.h"

namespace frostline::policy {

/// Encoder tensors in checkpoint order, the two unused leftovers included. Names begin `model.`.
std::vector<ParameterSpec> encoder_parameter_specs(const ArActorSpec& spec);

/// ImageNet's, RGB. Units: of 0..1.
inline constexpr std::array<double, 3> kImageMean{0.485, 0.456, 0.406};
inline constexpr std::array<double, 3> kImageStd{0.229, 0.224, 0.225};

/// Normalises frames with ImageNet's mean and standard deviation.
/// Shape: u8 [batch, height, width, 3] HWC RGB -> `dtype` [batch, 3, height, width] channels-last.
at::Tensor preprocess_image(const at::Tensor& image, at::ScalarType dtype = at::kFloat);

/// What the expert reads of an image: keys and values of every encoder layer, not rotated, and the
/// encoder's output for the parallel branch.
struct Prefix {
  std::vector<at::Tensor> keys;    ///< Shape: [batch, heads, tokens, head_dim] each.
  std::vector<at::Tensor> values;  ///< Shape: as `keys`.
  at::Tensor memory;               ///< x_4. Shape: [batch, tokens, dim].
  at::Tensor position;             ///< 2D sine. Shape: [tokens, dim].
};

/// The frozen half: no gradients, no dropout, batch norm folded into the convolutions. Takes copies
/// of the parameters. Immutable; thread-safe.
///
/// x_0 is the projected map, x_i the output of layer i-1; boundary Lk hands over x_0..x_k.
class ArActorEncoder {
 public:
  /// Runs on the device of `parameters`, in `dtype`.
  ArActorEncoder(const ArActorSpec& spec,
                 const ParameterSet& parameters,
                 at::ScalarType dtype = at::kFloat);

  const ArActorSpec& spec() const { return spec_; }

  at::Device device() const { return position_.device(); }

  at::ScalarType dtype() const { return dtype_; }

  /// Shape: u8 [batch, height, width, 3] -> x_0..x_`boundary`, [batch, tokens, dim] each; all
  /// layers when `boundary` is negative. Errors: `kUsage` for a boundary without layer; `kData` for
  /// an image of another size, naming both.
  std::vector<at::Tensor> encode(const at::Tensor& image, std::int64_t boundary = -1) const;
  /// The tail: completes x_0..x_k to x_0..x_4 on this device. Element types are converted.
  std::vector<at::Tensor> encode_from(std::vector<at::Tensor> x) const;
  /// K/V reconstruction of every layer from x_0..x_4.
  /// Source: specs of the split: K_i = (LN1_i(x_i) + position) Wk_i, V_i = LN1_i(x_i) Wv_i.
  Prefix prefix(const std::vector<at::Tensor>& x) const;

  /// Shape: [tokens, dim].
  const at::Tensor& position() const { return position_; }

 private:
  ArActorSpec spec_;
  at::ScalarType dtype_;
  FoldedResNet backbone_;
  at::Tensor projection_weight_;
  at::Tensor projection_bias_;
  std::vector<SelfAttentionLayer> layers_;
  at::Tensor position_;
};

/// How batch norm behaves in a trained encoder.
enum class BatchNormMode {
  kBatchStatistics,    ///< Normalises by the batch and updates the running statistics.
  kRunningStatistics,  ///< Normalises by the running statistics, as when frozen.
};

/// The encoder with gradients, for pretraining and `end_to_end`. Aliases the parameters.
class TrainableEncoder {
 public:
  TrainableEncoder(const ArActorSpec& spec,
                   const ParameterSet& parameters,
                   at::ScalarType dtype = at::kFloat);

  /// x_0..x_4 with their graph. `momentum` is the running statistics' update rate.
  std::vector<at::Tensor> forward(const at::Tensor& image,
                                  BatchNormMode mode,
                                  Dropout& dropout,
                                  double momentum = 0.1) const;
  /// Detached from the graph, as published training does.
  Prefix prefix(const std::vector<at::Tensor>& x) const;

  const at::Tensor& position() const { return position_; }

  /// Recomputes the running statistics as a plain average over batches: call with 0, 1, 2, …
  void accumulate_statistics(const at::Tensor& image, std::int64_t batch_index) const;

 private:
  ArActorSpec spec_;
  at::ScalarType dtype_;
  ResNet backbone_;
  at::Tensor projection_weight_;
  at::Tensor projection_bias_;
  std::vector<SelfAttentionLayer> layers_;
  at::Tensor position_;
};

}  // namespace frostline::policy
