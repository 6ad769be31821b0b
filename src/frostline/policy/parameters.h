#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "frostline/core/fingerprint.h"
#include "frostline/core/tensor.h"

namespace frostline::policy {

/// What a named tensor is to the optimiser.
enum class ParameterRole {
  kWeight,         ///< Counted and trained.
  kNormAffine,     ///< Scale and shift of a batch norm: trained while pretraining, a buffer after.
  kNormStatistic,  ///< Running mean and variance of a batch norm: never has a gradient.
};

/// How a parameter starts.
/// Source: defaults of torch.nn and torchvision's ResNet.
enum class Initialiser {
  kZeros,
  kOnes,
  kXavierUniform,  ///< ±sqrt(6 / (fan_in + fan_out)) of a matrix.
  kFanInUniform,   ///< ±1 / sqrt(fan_in): weight and bias of a linear layer.
  kStandardNormal,
  kFanOutNormal,  ///< sqrt(2 / fan_out): convolutions under ReLU.
};

/// Declares a named tensor.
struct ParameterSpec {
  std::string name;
  Shape shape;
  Initialiser initialiser = Initialiser::kZeros;
  std::int64_t fan_in = 0;  ///< For `kFanInUniform`.
  ParameterRole role = ParameterRole::kWeight;
};

/// Named fp32 tensors in a fixed order.
///
/// Weights and affine parameters are views into one buffer, and so are their gradients: clipping,
/// AdamW, an average of weights or a checkpoint is one pass over one tensor. Each view starts at a
/// multiple of 16 elements; the padding between views is and stays zero. Statistics lie apart.
/// Move-only. Threads: one writer.
class ParameterSet {
 public:
  ParameterSet() = default;
  /// Zero-filled. Errors: `kInternal` for a name declared twice.
  explicit ParameterSet(std::vector<ParameterSpec> specs, at::Device device = at::kCPU);
  ParameterSet(const ParameterSet&) = delete;
  ParameterSet& operator=(const ParameterSet&) = delete;
  ParameterSet(ParameterSet&&) noexcept = default;
  ParameterSet& operator=(ParameterSet&&) noexcept = default;
  ~ParameterSet() = default;

  /// Draws every tensor from (`seed`, its name) alone, so that neither the order, the device nor
  /// the other parameters matter.
  void initialise(std::uint64_t seed);

  const std::vector<ParameterSpec>& specs() const { return specs_; }

  std::size_t size() const { return specs_.size(); }

  const at::Tensor& operator[](std::size_t index) const { return tensors_[index]; }

  /// Errors: `kInternal` naming an unknown parameter.
  const at::Tensor& at(std::string_view name) const;

  bool contains(std::string_view name) const { return index_.contains(name); }

  /// Elements of one role; padding is not counted.
  std::int64_t count(ParameterRole role) const;

  at::Device device() const { return values_.device(); }

  /// Shape: [n], all weights and affine parameters with their padding.
  const at::Tensor& values() const { return values_; }

  /// Shape: [n] as `values`; undefined before `enable_gradients`.
  const at::Tensor& gradients() const { return gradients_; }

  /// Makes weights and affine parameters leaves that accumulate into `gradients`.
  void enable_gradients();
  void zero_gradients();

  ParameterSet clone() const;
  ParameterSet to(at::Device device) const;
  NamedTensors to_host() const;

  /// Copies values in; names and shapes must match exactly. Half-precision input is widened.
  /// Errors: `kData` naming tensor, both shapes, `origin` and what to do.
  void load(const NamedTensors& tensors, std::string_view origin);
  /// As `load`, but `tensors` may hold more than this set declares.
  void load_subset(const NamedTensors& tensors, std::string_view origin);

  /// Over names, shapes and fp32 values.
  Fingerprint fingerprint() const;

 private:
  std::vector<ParameterSpec> specs_;
  std::vector<at::Tensor> tensors_;
  std::map<std::string, std::size_t, std::less<>> index_;
  at::Tensor values_;
  at::Tensor gradients_;
};

}  // namespace frostline::policy
