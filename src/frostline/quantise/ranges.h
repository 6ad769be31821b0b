#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "frostline/accel/run.h"
#include "frostline/graph/graph.h"

namespace frostline::quantise {

// Overloads of this namespace would hide those for element types and shapes.
using frostline::to_string;

/// How the clipping magnitude of a tensor is chosen from what was seen.
enum class RangeMethod { kMinMax, kPercentile, kMse };

/// `min_max`, `percentile_99_99`, `mse`.
std::string_view to_string(RangeMethod method);

/// How a tensor's values become 8-bit codes: value = code * scale.
struct CodeScheme {
  DType dtype = DType::kI8;  ///< u8 for tensors that are never negative, else i8.
  float scale = 1.0F;
  friend bool operator==(const CodeScheme&, const CodeScheme&) = default;
};

/// Magnitudes of one tensor over the calibration frames. One thread.
class Histogram {
 public:
  static constexpr std::size_t kNumBins = 4096;

  explicit Histogram(float min, float max);

  void add(std::span<const float> values);

  bool is_signed() const { return min_ < 0.0F; }

  float min() const { return min_; }

  float max() const { return max_; }

  /// Magnitude that the largest code stands for. Positive, also for a tensor of zeros.
  float magnitude(RangeMethod method) const;
  CodeScheme scheme(RangeMethod method) const;

 private:
  double squared_error(float magnitude) const;

  float min_;
  float max_;
  float top_;
  std::vector<std::uint64_t> bins_;
};

using Histograms = std::map<std::string, Histogram, std::less<>>;

/// Runs the graph in fp32 over the batches twice, for the extremes and for the histograms, with
/// `tensors` as additional outputs.
/// Errors: `kUsage` without batches; `kNumeric` naming a tensor with a value that is not finite.
Histograms collect_histograms(const graph::Graph& graph,
                              const std::vector<std::string>& tensors,
                              std::span<const HostTensor> batches,
                              const accel::Compiler& compile);

}  // namespace frostline::quantise
