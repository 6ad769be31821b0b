#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "frostline/graph/graph.h"
#include "frostline/quantise/ranges.h"

namespace frostline::quantise {

using CodeSchemes = std::map<std::string, CodeScheme, std::less<>>;

/// Nodes whose product can run on 8-bit codes: convolutions and matrix products with a constant
/// weight, in order.
std::vector<std::string> quantisable_nodes(const graph::Graph& graph);

/// Tensors that such nodes read, each once, and the graph's outputs.
std::vector<std::string> quantised_tensors(const graph::Graph& graph,
                                           const std::set<std::string>& keep_float);

/// Rewrites products to read codes: a QuantizeLinear/DequantizeLinear pair on every activation, i8
/// weights with a scale per output channel. Every output becomes a QuantizeLinear to i8, so that
/// the graph gives the codes themselves. Normalisation, softmax, attention products and sums stay
/// in floating point, and so do the nodes named in `keep_float`. A sum reads the codes of a
/// non-negative tensor that a product reads as well: OpenVINO then runs convolution, sum and Relu
/// as one INT8 kernel (measured: a quarter less time for the demo's encoder, cosine of x_0 0.9998
/// both ways). Errors: `kUsage` when a needed scheme is missing or an output's scheme is not i8.
graph::Graph insert_codes(const graph::Graph& graph,
                          const CodeSchemes& schemes,
                          const std::set<std::string>& keep_float);

/// Symmetric i8 codes of a weight with one scale per slice of `axis`.
struct CodedWeight {
  HostTensor codes;
  HostTensor scales;
};

CodedWeight code_weight(const HostTensor& weight, std::size_t axis);

}  // namespace frostline::quantise
