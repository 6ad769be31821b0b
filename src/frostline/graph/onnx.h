#pragma once

#include <string>
#include <string_view>

#include "frostline/graph/graph.h"

namespace frostline::graph {

/// Serialises a graph as an ONNX ModelProto: opset 17, static shapes, constants as raw data.
/// Errors: as `infer_types`.
/// Source: ONNX IR version 8, onnx.proto field numbers.
std::string to_onnx(const Graph& graph);

/// Reads a model that uses the operators of `Op` and keeps its constants in raw data; `origin` is
/// named in errors.
/// Errors: `kData` when bytes are malformed or the graph does not check; `kUnsupported` for an
/// operator, attribute, element type or opset that is not known.
Graph from_onnx(std::string_view bytes, std::string_view origin);

}  // namespace frostline::graph
