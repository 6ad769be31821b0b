#include "frostline/quantise/quantise.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace frostline::quantise {

namespace {

accel::Artefact coded_artefact(const graph::Graph& graph,
                               const Histograms& histograms,
                               RangeMethod method,
                               const QuantiseOptions& options) {
  CodeSchemes schemes;
  for (const auto& [tensor, histogram] : histograms) {
    schemes.emplace(tensor, histogram.scheme(method));
  }
  accel::OutputCodes codes;
  for (const TensorSpec& output : graph.outputs) {
    CodeScheme& scheme = schemes.at(output.name);
    // Outputs are i8 whatever their sign, so that all boundary tensors have one type.
    scheme = {DType::kI8, histograms.at(output.name).magnitude(method) / 127.0F};
    codes.scales.push_back(scheme.scale);
    codes.zero_points.push_back(0);
  }
  return accel::make_artefact(
      insert_codes(graph, schemes, options.keep_float), options.precision, codes);
}

void check_keep_float(const std::vector<std::string>& nodes, const std::set<std::string>& keep) {
  for (const std::string& name : keep) {
    FROSTLINE_REQUIRE(std::ranges::find(nodes, name) != nodes.end(),
                      ErrorCode::kUsage,
                      "node to keep in floating point is not quantisable",
                      fmt::format("node={}", name));
  }
}

}  // namespace

QuantiseResult quantise(const graph::Graph& graph,
                        std::span<const HostTensor> calibration,
                        std::span<const HostTensor> held_out,
                        const accel::Compiler& compile,
                        const QuantiseOptions& options) {
  FROSTLINE_REQUIRE(options.precision == "int8" || options.precision == "int8+bf16",
                    ErrorCode::kUsage,
                    "precision is not a quantised one",
                    fmt::format("precision={} ; give int8 or int8+bf16", options.precision));
  QuantiseResult result;
  QuantiseReport& report = result.report;
  report.quantised_nodes = quantisable_nodes(graph);
  check_keep_float(report.quantised_nodes, options.keep_float);
  report.float_nodes.assign(options.keep_float.begin(), options.keep_float.end());
  std::erase_if(report.quantised_nodes,
                [&](const std::string& name) { return options.keep_float.contains(name); });

  const Histograms histograms =
      collect_histograms(graph, quantised_tensors(graph, options.keep_float), calibration, compile);
  const accel::Artefact plain = float_artefact(graph, "fp32");
  const Runnable reference{plain, compile(plain)};
  for (const RangeMethod method :
       {RangeMethod::kMinMax, RangeMethod::kPercentile, RangeMethod::kMse}) {
    accel::Artefact artefact = coded_artefact(graph, histograms, method, options);
    const std::vector<ParityRow> rows = parity(reference, {artefact, compile(artefact)}, held_out);
    report.attempts.push_back({method, rows});
    if (report.rows.empty() || worst_cosine(rows) > worst_cosine(report.rows)) {
      report.chosen = method;
      report.rows = rows;
      result.artefact = std::move(artefact);
    }
    if (worst_cosine(rows) >= options.target_cosine) {
      report.reached_target = true;
      break;
    }
  }
  require_parity(report.rows, std::min(kGateCosine, options.target_cosine));
  return result;
}

accel::Artefact float_artefact(const graph::Graph& graph, const std::string& precision) {
  FROSTLINE_REQUIRE(precision == "fp32" || precision == "bf16",
                    ErrorCode::kUsage,
                    "precision is not a floating-point one",
                    fmt::format("precision={} ; give fp32 or bf16", precision));
  return accel::make_artefact(graph,
                              precision,
                              {std::vector<float>(graph.outputs.size(), 1.0F),
                               std::vector<std::int32_t>(graph.outputs.size(), 0)});
}

std::vector<HostTensor> batches_of(const HostTensor& frames, std::int64_t batch) {
  FROSTLINE_REQUIRE(frames.shape().size() == 4 && frames.shape()[0] > 0 && batch > 0,
                    ErrorCode::kUsage,
                    "frames [n, height, width, 3] are needed",
                    fmt::format("shape={} batch={}", to_string(frames.shape()), batch));
  Shape shape = frames.shape();
  const std::int64_t num_frames = shape[0];
  shape[0] = batch;
  const std::size_t size = frames.bytes().size() / static_cast<std::size_t>(num_frames);
  std::vector<HostTensor> batches;
  for (std::int64_t start = 0; start < num_frames; start += batch) {
    HostTensor& tensor = batches.emplace_back(frames.dtype(), shape);
    for (std::int64_t i = 0; i < batch; ++i) {
      const auto from = static_cast<std::size_t>(std::min(start + i, num_frames - 1));
      std::memcpy(tensor.bytes().data() + static_cast<std::size_t>(i) * size,
                  frames.bytes().data() + from * size,
                  size);
    }
  }
  return batches;
}

}  // namespace frostline::quantise
