#include "frostline/quantise/ranges.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace frostline::quantise {

namespace {

constexpr double kPercentile = 0.9999;
constexpr float kSignedSteps = 127.0F;
constexpr float kUnsignedSteps = 255.0F;

struct Extremes {
  float min = 0.0F;
  float max = 0.0F;
};

accel::Artefact observer(const graph::Graph& graph, const std::vector<std::string>& tensors) {
  graph::Graph observed = graph;
  const graph::TensorTypes types = graph::infer_types(graph);
  observed.outputs.clear();
  for (const std::string& tensor : tensors) {
    const auto found = types.find(tensor);
    FROSTLINE_REQUIRE(found != types.end(),
                      ErrorCode::kUsage,
                      "tensor is not in the graph",
                      fmt::format("tensor={}", tensor));
    observed.outputs.push_back(found->second);
  }
  return accel::make_artefact(
      observed,
      "fp32",
      {std::vector<float>(tensors.size(), 1.0F), std::vector<std::int32_t>(tensors.size(), 0)});
}

void widen(Extremes& extremes, const std::string& tensor, std::span<const float> values) {
  for (const float value : values) {
    FROSTLINE_REQUIRE(
        std::isfinite(value),
        ErrorCode::kNumeric,
        "value is not finite during calibration",
        fmt::format("tensor={} value={} ; check the encoder's weights", tensor, value));
    extremes.min = std::min(extremes.min, value);
    extremes.max = std::max(extremes.max, value);
  }
}

}  // namespace

std::string_view to_string(RangeMethod method) {
  switch (method) {
    case RangeMethod::kMinMax:
      return "min_max";
    case RangeMethod::kPercentile:
      return "percentile_99_99";
    case RangeMethod::kMse:
      return "mse";
  }
  return "unknown";
}

Histogram::Histogram(float min, float max)
    : min_(std::min(min, 0.0F)),
      max_(std::max(max, 0.0F)),
      top_(std::max(-min_, max_)),
      bins_(kNumBins, 0) {
  // A tensor of zeros keeps code 0 whatever the scale.
  top_ = top_ > 0.0F ? top_ : 1.0F;
}

void Histogram::add(std::span<const float> values) {
  const float factor = static_cast<float>(kNumBins) / top_;
  for (const float value : values) {
    const auto bin = static_cast<std::size_t>(std::fabs(value) * factor);
    ++bins_[std::min(bin, kNumBins - 1)];
  }
}

double Histogram::squared_error(float magnitude) const {
  const double step = magnitude / (is_signed() ? kSignedSteps : kUnsignedSteps);
  double error = 0.0;
  for (std::size_t i = 0; i < kNumBins; ++i) {
    const double value = (static_cast<double>(i) + 0.5) * top_ / static_cast<double>(kNumBins);
    const double coded = std::min(std::nearbyint(value / step) * step, double{magnitude});
    error += static_cast<double>(bins_[i]) * (value - coded) * (value - coded);
  }
  return error;
}

float Histogram::magnitude(RangeMethod method) const {
  if (method == RangeMethod::kMinMax) {
    return top_;
  }
  if (method == RangeMethod::kMse) {
    float best = top_;
    double best_error = squared_error(top_);
    for (int percent = 99; percent >= 20; --percent) {
      const float candidate = top_ * static_cast<float>(percent) / 100.0F;
      const double error = squared_error(candidate);
      if (error < best_error) {
        best = candidate;
        best_error = error;
      }
    }
    return best;
  }
  std::uint64_t total = 0;
  for (const std::uint64_t count : bins_) {
    total += count;
  }
  const double wanted = kPercentile * static_cast<double>(total);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kNumBins; ++i) {
    seen += bins_[i];
    if (static_cast<double>(seen) >= wanted) {
      return top_ * static_cast<float>(i + 1) / static_cast<float>(kNumBins);
    }
  }
  return top_;
}

CodeScheme Histogram::scheme(RangeMethod method) const {
  return is_signed() ? CodeScheme{DType::kI8, magnitude(method) / kSignedSteps}
                     : CodeScheme{DType::kU8, magnitude(method) / kUnsignedSteps};
}

Histograms collect_histograms(const graph::Graph& graph,
                              const std::vector<std::string>& tensors,
                              std::span<const HostTensor> batches,
                              const accel::Compiler& compile) {
  FROSTLINE_REQUIRE(!batches.empty(),
                    ErrorCode::kUsage,
                    "calibration needs frames",
                    "batches=0 ; give at least one batch, 128 to 512 frames are usual");
  const accel::Runner run = compile(observer(graph, tensors));
  std::vector<Extremes> extremes(tensors.size());
  for (const HostTensor& batch : batches) {
    const std::vector<HostTensor> values = run(batch);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      widen(extremes[i], tensors[i], values[i].data<float>());
    }
  }
  Histograms histograms;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    histograms.emplace(tensors[i], Histogram(extremes[i].min, extremes[i].max));
  }
  for (const HostTensor& batch : batches) {
    const std::vector<HostTensor> values = run(batch);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      histograms.at(tensors[i]).add(values[i].data<float>());
    }
  }
  return histograms;
}

}  // namespace frostline::quantise
