#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "frostline/policy/parameters.h"

namespace frostline::policy {

/// Tensors of a ResNet18 without classifier whose first stage has `width` channels.
/// Source: He et al., "Deep residual learning", CVPR 2016, names of torchvision.
void declare_resnet18(std::vector<ParameterSpec>& specs,
                      const std::string& prefix,
                      std::int64_t width);

/// A convolution without bias and its batch norm.
struct ConvNorm {
  at::Tensor weight;
  at::Tensor scale, shift;    ///< Batch norm's affine part.
  at::Tensor mean, variance;  ///< Running statistics.
  std::int64_t stride = 1;
  std::int64_t padding = 0;
};

/// Two 3x3 convolutions and a shortcut.
template <class Conv>
struct ResNetBlock {
  Conv conv1, conv2;
  std::optional<Conv> shortcut;
};

/// ResNet18 with its batch norms apart. Aliases the parameters.
struct ResNet {
  ConvNorm stem;
  std::vector<ResNetBlock<ConvNorm>> blocks;

  ResNet(const ParameterSet& parameters, const std::string& prefix);
  /// Shape: [batch, 3, h, w] -> [batch, 8 width, h/32, w/32]. `is_training` normalises by the batch
  /// and updates the running statistics.
  at::Tensor forward(const at::Tensor& image, bool is_training, double momentum) const;
};

/// A convolution with its batch norm folded in.
struct FoldedConv {
  at::Tensor weight, bias;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
};

/// ResNet18 for inference. Copies.
struct FoldedResNet {
  FoldedConv stem;
  std::vector<ResNetBlock<FoldedConv>> blocks;

  FoldedResNet(const ResNet& network, at::ScalarType dtype);
  at::Tensor forward(const at::Tensor& image) const;
};

/// Added to the variance.
inline constexpr double kBatchNormEpsilon = 1e-5;

}  // namespace frostline::policy
