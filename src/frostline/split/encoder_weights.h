#pragma once

#include <string>
#include <string_view>

#include "frostline/core/tensor.h"

namespace frostline::split {

/// Weights of a checkpoint by name below the prefix `model.`, checked against the shape that the
/// caller expects. Borrows the map.
class EncoderWeights {
 public:
  explicit EncoderWeights(const NamedTensors& weights) : weights_(weights) {}

  /// In fp32. Errors: `kData` naming the weight, both shapes, or that it is missing.
  HostTensor get(const std::string& name, const Shape& shape) const;
  /// A linear layer's [out, in] as [in, out], which a matrix product takes on its right.
  HostTensor transposed(const std::string& name, std::int64_t out, std::int64_t in) const;

 private:
  const NamedTensors& weights_;
};

/// A convolution with its batch norm folded in.
struct FoldedConvolution {
  HostTensor weight;
  HostTensor bias;
};

/// Folds y = (conv(x) - mean) / sqrt(var + 1e-5) * scale + shift into weight and bias, in double.
/// Source: frozen batch norm of torchvision, eps 1e-5.
FoldedConvolution fold_batch_norm(const EncoderWeights& weights,
                                  const std::string& conv,
                                  const std::string& norm,
                                  const Shape& shape);

}  // namespace frostline::split
