#include "frostline/split/torch/tail.h"

#include <ATen/core/grad_mode.h>

#include "frostline/core/error.h"

namespace frostline::split {

FrozenTail::FrozenTail(const policy::ArActorEncoder& encoder, Coding coding)
    : encoder_(encoder), coding_(std::move(coding)) {
  FROSTLINE_CHECK(coding_.scales.size() == coding_.zero_points.size());
}

std::vector<at::Tensor> FrozenTail::boundary_tensors(std::span<const at::Tensor> inputs) const {
  const at::NoGradGuard no_grad;
  if (inputs.size() == 1 && inputs[0].scalar_type() == at::kByte) {
    return encoder_.encode(inputs[0]);
  }
  std::vector<at::Tensor> x;
  x.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].scalar_type() == at::kChar) {
      FROSTLINE_CHECK(i < coding_.scales.size());
      x.push_back(inputs[i].to(at::kFloat).sub_(coding_.zero_points[i]).mul_(coding_.scales[i]));
    } else {
      x.push_back(inputs[i]);
    }
  }
  return encoder_.encode_from(std::move(x));
}

policy::Prefix FrozenTail::operator()(std::span<const at::Tensor> inputs) const {
  const at::NoGradGuard no_grad;
  return encoder_.prefix(boundary_tensors(inputs));
}

}  // namespace frostline::split
