#pragma once

#include "frostline/core/tensor.h"
#include "frostline/graph/graph.h"

namespace frostline::graph {

/// Runs a graph in plain fp32 loops: the reference that backends and rewrites are tested against.
/// Meant for small shapes. Returns the outputs by name.
/// Source: ONNX operator specification, opset 17; QuantizeLinear rounds half to even.
/// Errors: `kData` for a malformed graph or an input that is missing or of another type.
/// Threads: none of its own; safe to call from several.
NamedTensors interpret(const Graph& graph, const NamedTensors& inputs);

}  // namespace frostline::graph
