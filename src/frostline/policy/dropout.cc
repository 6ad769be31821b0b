#include "frostline/policy/dropout.h"

#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty.h>

#include "frostline/core/error.h"
#include "frostline/core/random.h"

namespace frostline::policy {
namespace {

constexpr double kLevels = 65536.0;

// SplitMix64: libtorch's own Bernoulli draws cost 8 ns an element on the CPU, these less than 1.
// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9E3779B97F4A7C15U);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

// Four elements a draw, 16 bits each.
void fill_mask(float* mask, std::int64_t n, double probability, std::uint64_t& state) {
  const auto dropped = static_cast<std::uint32_t>(std::lround(probability * kLevels));
  const auto kept = static_cast<float>(kLevels / (kLevels - dropped));
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const std::uint64_t bits = next(state);
    for (int lane = 0; lane < 4; ++lane) {
      mask[i + lane] = ((bits >> (16 * lane)) & 0xFFFFU) < dropped ? 0.0F : kept;
    }
  }
  for (std::uint64_t bits = next(state); i < n; ++i, bits >>= 16) {
    mask[i] = (bits & 0xFFFFU) < dropped ? 0.0F : kept;
  }
}

}  // namespace

std::uint64_t dropout_seed(std::uint64_t seed, std::uint64_t step) {
  Random random(seed, RandomStream::kDropout, step);
  const std::uint64_t high = random.next_u32();
  return (high << 32) | random.next_u32();
}

Dropout::Dropout(double probability, std::uint64_t seed, std::uint64_t step)
    : probability_(probability) {
  if (is_on()) {
    state_ = dropout_seed(seed, step);
  }
}

Dropout Dropout::from_device_generator(double probability) {
  Dropout dropout;
  dropout.probability_ = probability;
  return dropout;
}

at::Tensor Dropout::operator()(const at::Tensor& x) {
  if (!is_on()) {
    return x;
  }
  if (!state_) {
    return at::dropout(x, probability_, /*train=*/true);
  }
  FROSTLINE_CHECK(x.is_cpu());
  const at::Tensor mask = at::empty(x.sizes(), at::kFloat);
  fill_mask(mask.mutable_data_ptr<float>(), mask.numel(), probability_, *state_);
  return x * mask.to(x.scalar_type());
}

}  // namespace frostline::policy
