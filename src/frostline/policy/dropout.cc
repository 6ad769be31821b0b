#include "frostline/policy/dropout.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/empty_like.h>

#include "frostline/core/random.h"

namespace frostline::policy {

std::uint64_t dropout_seed(std::uint64_t seed, std::uint64_t step) {
  Random random(seed, RandomStream::kDropout, step);
  const std::uint64_t high = random.next_u32();
  return (high << 32) | random.next_u32();
}

Dropout::Dropout(double probability, std::uint64_t seed, std::uint64_t step)
    : probability_(probability) {
  if (is_on()) {
    generator_ = at::detail::createCPUGenerator(dropout_seed(seed, step));
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
  if (!generator_) {
    return at::dropout(x, probability_, /*train=*/true);
  }
  at::Tensor mask = at::empty_like(x.detach(), at::MemoryFormat::Contiguous);
  mask.bernoulli_(1.0 - probability_, generator_);
  mask.div_(1.0 - probability_);
  return x * mask;
}

}  // namespace frostline::policy
