#include "frostline/split/encoder_weights.h"

#include <cmath>

#include <fmt/format.h>

namespace frostline::split {

HostTensor EncoderWeights::get(const std::string& name, const Shape& shape) const {
  const std::string key = "model." + name;
  const auto found = weights_.find(key);
  FROSTLINE_REQUIRE(
      found != weights_.end(),
      ErrorCode::kData,
      "encoder weight is missing",
      fmt::format("weight={} shape={} ; is this checkpoint an AR-Actor?", key, to_string(shape)));
  const HostTensor& tensor = found->second;
  const bool is_float = tensor.dtype() == DType::kF32 || tensor.dtype() == DType::kF64 ||
                        tensor.dtype() == DType::kF16 || tensor.dtype() == DType::kBF16;
  FROSTLINE_REQUIRE(is_float && tensor.shape() == shape,
                    ErrorCode::kData,
                    "encoder weight has another type than the policy's sizes ask for",
                    fmt::format("weight={} expected={} found={}{}",
                                key,
                                to_string(shape),
                                to_string(tensor.dtype()),
                                to_string(tensor.shape())));
  return to_f32(tensor);
}

HostTensor EncoderWeights::transposed(const std::string& name,
                                      std::int64_t out,
                                      std::int64_t in) const {
  const HostTensor weight = get(name, {out, in});
  HostTensor result(DType::kF32, {in, out});
  const auto from = weight.data<float>();
  const auto to = result.data<float>();
  for (std::int64_t i = 0; i < out; ++i) {
    for (std::int64_t j = 0; j < in; ++j) {
      to[static_cast<std::size_t>(j * out + i)] = from[static_cast<std::size_t>(i * in + j)];
    }
  }
  return result;
}

FoldedConvolution fold_batch_norm(const EncoderWeights& weights,
                                  const std::string& conv,
                                  const std::string& norm,
                                  const Shape& shape) {
  constexpr double kEpsilon = 1e-5;
  const std::int64_t channels = shape.at(0);
  FoldedConvolution folded{weights.get(conv + ".weight", shape),
                           HostTensor(DType::kF32, {channels})};
  const HostTensor scale = weights.get(norm + ".weight", {channels});
  const HostTensor shift = weights.get(norm + ".bias", {channels});
  const HostTensor mean = weights.get(norm + ".running_mean", {channels});
  const HostTensor variance = weights.get(norm + ".running_var", {channels});
  const auto values = folded.weight.data<float>();
  const std::size_t taps = values.size() / static_cast<std::size_t>(channels);
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
    const double var = variance.data<float>()[c];
    FROSTLINE_REQUIRE(var >= 0.0,
                      ErrorCode::kData,
                      "batch norm has a negative variance",
                      fmt::format("weight=model.{}.running_var channel={} value={}", norm, c, var));
    const double factor = scale.data<float>()[c] / std::sqrt(var + kEpsilon);
    for (std::size_t i = c * taps; i < (c + 1) * taps; ++i) {
      values[i] = static_cast<float>(values[i] * factor);
    }
    folded.bias.data<float>()[c] =
        static_cast<float>(shift.data<float>()[c] - mean.data<float>()[c] * factor);
  }
  return folded;
}

}  // namespace frostline::split
