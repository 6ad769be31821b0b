#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "frostline/core/fingerprint.h"
#include "frostline/core/tensor.h"

namespace frostline::graph {

// Overloads of this namespace would hide those for element types and shapes.
using frostline::to_string;

/// Operators of a frozen encoder, with ONNX's names and meaning.
/// Source: ONNX operator specification, opset 17.
enum class Op {
  kAdd,
  kCast,
  kConv,
  kDequantizeLinear,
  kDiv,
  kLayerNormalization,
  kMatMul,
  kMaxPool,
  kMul,
  kQuantizeLinear,
  kRelu,
  kReshape,
  kSoftmax,
  kSub,
  kTranspose,
};

/// ONNX's name, for example `LayerNormalization`.
std::string_view to_string(Op op);
/// Errors: `kUnsupported` naming the operator and the known ones.
Op op_from_string(std::string_view name);

using Attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>>;

/// One operator of a graph. Tensors are named; attributes have ONNX's names.
struct Node {
  Op op = Op::kAdd;
  std::string name;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::map<std::string, Attribute, std::less<>> attributes;

  /// Errors: `kData` naming the node when the attribute has another type.
  std::int64_t int_or(std::string_view key, std::int64_t fallback) const;
  float float_or(std::string_view key, float fallback) const;
  std::vector<std::int64_t> ints_or(std::string_view key, std::vector<std::int64_t> fallback) const;
  friend bool operator==(const Node&, const Node&) = default;
};

/// A frozen network as data: nodes in an order in which every input is made before it is used.
struct Graph {
  std::string name;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<Node> nodes;
  NamedTensors initialisers;
};

/// Element type and shape of every tensor of a graph, by name.
using TensorTypes = std::map<std::string, TensorSpec, std::less<>>;

/// Checks a graph and infers the type of every tensor.
/// Errors: `kData` naming node, operator and shapes when an input is unknown or made later, a name
/// is made twice, shapes do not fit, or an output's type is not the declared one.
TensorTypes infer_types(const Graph& graph);

/// The same network for another batch size: the first dimension of inputs and outputs.
/// Errors: `kData` when the network holds the batch size in a constant.
Graph with_batch(const Graph& graph, std::int64_t batch);

/// Identity of what a graph computes: operators, constants and types, without the batch size.
Fingerprint fingerprint(const Graph& graph);

/// Element-wise equality of nodes, specs and constants.
bool is_same(const Graph& a, const Graph& b);

}  // namespace frostline::graph
