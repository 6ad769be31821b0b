#pragma once

#include "frostline/quantise/quantise.h"
#include "frostline/quantise/rewrite.h"
#include "frostline/split/encoder_graph.h"
#include "tests/support/random_encoder.h"

namespace frostline::test {

inline graph::Graph tiny_encoder_graph(int boundary, std::int64_t batch) {
  const policy::ArActorSpec spec = tiny_encoder_spec();
  return split::encoder_graph(spec, RandomEncoder(7).weights(spec), boundary, batch);
}

/// A tiny encoder whose outputs are i8 codes; the products run in fp32, so no calibration is
/// needed.
inline accel::Artefact tiny_coded_artefact(std::int64_t batch) {
  const graph::Graph graph = tiny_encoder_graph(1, batch);
  const auto products = quantise::quantisable_nodes(graph);
  quantise::CodeSchemes schemes;
  accel::OutputCodes codes;
  for (const TensorSpec& output : graph.outputs) {
    schemes.emplace(output.name, quantise::CodeScheme{DType::kI8, 0.05F});
    codes.scales.push_back(0.05F);
    codes.zero_points.push_back(0);
  }
  return accel::make_artefact(
      quantise::insert_codes(graph, schemes, {products.begin(), products.end()}), "int8", codes);
}

inline HostTensor tiny_frames(std::int64_t n, std::uint64_t seed) {
  const policy::ArActorSpec spec = tiny_encoder_spec();
  return random_frames(n, spec.image_height_px, spec.image_width_px, seed);
}

}  // namespace frostline::test
