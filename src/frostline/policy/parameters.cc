#include "frostline/policy/parameters.h"

#include <cmath>
#include <numbers>
#include <span>
#include <utility>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/core/random.h"
#include "frostline/policy/convert.h"

namespace frostline::policy {
namespace {

// 64 bytes: vector loads and the matrix kernels of CUDA want aligned starts.
constexpr std::int64_t kAlignment = 16;

std::int64_t padded(std::int64_t n) {
  return (n + kAlignment - 1) / kAlignment * kAlignment;
}

bool is_trainable(const ParameterSpec& spec) {
  return spec.role != ParameterRole::kNormStatistic;
}

std::uint64_t key_of(const std::string& name) {
  Fingerprinter fingerprinter;
  fingerprinter.add(std::string_view(name));
  return std::stoull(fingerprinter.finish().hex.substr(0, 16), nullptr, 16);
}

void fill_uniform(std::span<float> values, double bound, Random& random) {
  for (float& value : values) {
    value = static_cast<float>((2.0 * random.next_float() - 1.0) * bound);
  }
}

// Box-Muller; both numbers of a pair are used.
void fill_normal(std::span<float> values, double deviation, Random& random) {
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const double radius = deviation * std::sqrt(-2.0 * std::log(1.0 - random.next_double()));
    const double angle = 2.0 * std::numbers::pi * random.next_double();
    values[i] = static_cast<float>(radius * std::cos(angle));
    if (i + 1 < values.size()) {
      values[i + 1] = static_cast<float>(radius * std::sin(angle));
    }
  }
}

void fill(std::span<float> values, const ParameterSpec& spec, Random& random) {
  const auto n = static_cast<double>(num_elements(spec.shape));
  switch (spec.initialiser) {
    case Initialiser::kZeros:
      std::fill(values.begin(), values.end(), 0.0F);
      return;
    case Initialiser::kOnes:
      std::fill(values.begin(), values.end(), 1.0F);
      return;
    case Initialiser::kXavierUniform:
      FROSTLINE_CHECK(spec.shape.size() == 2);
      fill_uniform(
          values, std::sqrt(6.0 / static_cast<double>(spec.shape[0] + spec.shape[1])), random);
      return;
    case Initialiser::kFanInUniform:
      FROSTLINE_CHECK(spec.fan_in > 0);
      fill_uniform(values, 1.0 / std::sqrt(static_cast<double>(spec.fan_in)), random);
      return;
    case Initialiser::kStandardNormal:
      fill_normal(values, 1.0, random);
      return;
    case Initialiser::kFanOutNormal:
      FROSTLINE_CHECK(spec.shape.size() == 4);
      fill_normal(values, std::sqrt(2.0 / (n / static_cast<double>(spec.shape[1]))), random);
      return;
  }
}

}  // namespace

ParameterSet::ParameterSet(std::vector<ParameterSpec> specs, at::Device device)
    : specs_(std::move(specs)) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (!index_.emplace(specs_[i].name, i).second) {
      throw Error(ErrorCode::kInternal, "parameter declared twice", specs_[i].name);
    }
    total += is_trainable(specs_[i]) ? padded(num_elements(specs_[i].shape)) : 0;
  }
  const at::TensorOptions options = at::TensorOptions().dtype(at::kFloat).device(device);
  values_ = at::zeros({total}, options);
  std::int64_t offset = 0;
  for (const ParameterSpec& spec : specs_) {
    if (is_trainable(spec)) {
      const std::int64_t n = num_elements(spec.shape);
      tensors_.push_back(values_.narrow(0, offset, n).view(spec.shape).detach());
      offset += padded(n);
    } else {
      tensors_.push_back(at::zeros(spec.shape, options));
    }
  }
}

void ParameterSet::initialise(std::uint64_t seed) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    Random random(seed, RandomStream::kInitialWeights, key_of(specs_[i].name));
    HostTensor host(DType::kF32, specs_[i].shape);
    fill(host.data<float>(), specs_[i], random);
    tensors_[i].copy_(to_torch(host));
  }
}

const at::Tensor& ParameterSet::at(std::string_view name) const {
  const auto found = index_.find(name);
  if (found == index_.end()) {
    throw Error(ErrorCode::kInternal, "no such parameter", name);
  }
  return tensors_[found->second];
}

std::int64_t ParameterSet::count(ParameterRole role) const {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    total += specs_[i].role == role ? tensors_[i].numel() : 0;
  }
  return total;
}

void ParameterSet::enable_gradients() {
  gradients_ = at::zeros_like(values_);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (!is_trainable(specs_[i])) {
      continue;
    }
    const std::int64_t n = tensors_[i].numel();
    tensors_[i].set_requires_grad(true);
    tensors_[i].mutable_grad() = gradients_.narrow(0, offset, n).view(specs_[i].shape);
    offset += padded(n);
  }
}

void ParameterSet::zero_gradients() {
  FROSTLINE_CHECK(gradients_.defined());
  gradients_.zero_();
}

ParameterSet ParameterSet::to(at::Device device) const {
  const at::NoGradGuard no_grad;
  ParameterSet copy(specs_, device);
  copy.values_.copy_(values_);
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (!is_trainable(specs_[i])) {
      copy.tensors_[i].copy_(tensors_[i]);
    }
  }
  return copy;
}

ParameterSet ParameterSet::clone() const {
  return to(device());
}

NamedTensors ParameterSet::to_host() const {
  NamedTensors result;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    result.emplace(specs_[i].name, policy::to_host(tensors_[i]));
  }
  return result;
}

void ParameterSet::load(const NamedTensors& tensors, std::string_view origin) {
  for (const auto& [name, tensor] : tensors) {
    FROSTLINE_REQUIRE(index_.contains(name),
                      ErrorCode::kData,
                      "unexpected tensor in a checkpoint",
                      fmt::format("tensor={} shape={} file={} ; the policy's configuration and "
                                  "weights do not belong together: restore both from one "
                                  "checkpoint",
                                  name,
                                  to_string(tensor.shape()),
                                  origin));
  }
  load_subset(tensors, origin);
}

void ParameterSet::load_subset(const NamedTensors& tensors, std::string_view origin) {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const ParameterSpec& spec = specs_[i];
    const auto found = tensors.find(spec.name);
    FROSTLINE_REQUIRE(
        found != tensors.end(),
        ErrorCode::kData,
        "tensor missing in a checkpoint",
        fmt::format("tensor={} shape={} file={} ; use a checkpoint of the same policy",
                    spec.name,
                    to_string(spec.shape),
                    origin));
    const HostTensor& tensor = found->second;
    FROSTLINE_REQUIRE(
        tensor.shape() == spec.shape,
        ErrorCode::kData,
        "tensor of another shape in a checkpoint",
        fmt::format("tensor={} expected={} found={} file={} ; use a checkpoint of the "
                    "same preset, or the preset of this checkpoint",
                    spec.name,
                    to_string(spec.shape),
                    to_string(tensor.shape()),
                    origin));
    FROSTLINE_REQUIRE(tensor.dtype() == DType::kF32 || tensor.dtype() == DType::kF16 ||
                          tensor.dtype() == DType::kBF16,
                      ErrorCode::kData,
                      "tensor of another element type in a checkpoint",
                      fmt::format("tensor={} expected=f32, f16 or bf16 found={} file={}",
                                  spec.name,
                                  to_string(tensor.dtype()),
                                  origin));
    tensors_[i].copy_(to_torch(tensor));
  }
}

Fingerprint ParameterSet::fingerprint() const {
  Fingerprinter fingerprinter;
  for (const auto& [name, tensor] : to_host()) {
    fingerprinter.add(std::string_view(name));
    fingerprinter.add(std::string_view(to_string(tensor.shape())));
    fingerprinter.add(tensor.bytes());
  }
  return fingerprinter.finish();
}

}  // namespace frostline::policy
