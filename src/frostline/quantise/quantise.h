#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "frostline/accel/artefact.h"
#include "frostline/quantise/parity.h"
#include "frostline/quantise/rewrite.h"

namespace frostline::quantise {

/// Options of `quantise`.
struct QuantiseOptions {
  std::string precision = "int8";         ///< `int8` or `int8+bf16`.
  double target_cosine = kGateCosine;     ///< Stop at the first method that reaches it.
  std::set<std::string> keep_float = {};  ///< Nodes whose product stays in floating point.
};

/// What one range method gave on the held-out frames.
struct Attempt {
  RangeMethod method = RangeMethod::kMinMax;
  std::vector<ParityRow> rows;
};

struct QuantiseReport {
  RangeMethod chosen = RangeMethod::kMinMax;
  bool reached_target = false;
  std::vector<ParityRow> rows;  ///< Of the chosen method, a row per boundary tensor.
  std::vector<Attempt> attempts;
  std::vector<std::string> quantised_nodes;
  std::vector<std::string> float_nodes;
};

struct QuantiseResult {
  accel::Artefact artefact;
  QuantiseReport report;
};

/// Quantises an fp32 encoder: ranges from `calibration`, the range method by the worst cosine on
/// `held_out`: min-max, then percentile, then MSE; it stops at the first that reaches the target
/// and keeps the best otherwise.
/// Shape: batches u8, each of the graph's input shape.
/// Errors: `kNumeric` with the figures when the best misses the gate (0.98 or `target_cosine`,
/// whichever is lower); as `collect_histograms`.
QuantiseResult quantise(const graph::Graph& graph,
                        std::span<const HostTensor> calibration,
                        std::span<const HostTensor> held_out,
                        const accel::Compiler& compile,
                        const QuantiseOptions& options = {});

/// The graph as it is, for `fp32` or `bf16`; outputs are f32.
accel::Artefact float_artefact(const graph::Graph& graph, const std::string& precision);

/// Cuts frames [n, height, width, 3] into batches; the last is filled up by repeating the last
/// frame. Errors: `kUsage` without frames.
std::vector<HostTensor> batches_of(const HostTensor& frames, std::int64_t batch);

}  // namespace frostline::quantise
