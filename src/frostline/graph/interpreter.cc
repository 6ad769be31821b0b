#include "frostline/graph/interpreter.h"

#include <algorithm>

#include <fmt/format.h>

#include "frostline/graph/kernels.h"

namespace frostline::graph {

namespace {

/// Index of the last node that reads each tensor, so that memory can be given back.
std::map<std::string, std::size_t, std::less<>> last_uses(const Graph& graph) {
  std::map<std::string, std::size_t, std::less<>> result;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string& input : graph.nodes[i].inputs) {
      result[input] = i;
    }
  }
  for (const TensorSpec& output : graph.outputs) {
    result[output.name] = graph.nodes.size();
  }
  return result;
}

}  // namespace

NamedTensors interpret(const Graph& graph, const NamedTensors& inputs) {
  const TensorTypes types = infer_types(graph);
  NamedTensors values;
  for (const TensorSpec& spec : graph.inputs) {
    const auto found = inputs.find(spec.name);
    FROSTLINE_REQUIRE(found != inputs.end(),
                      ErrorCode::kData,
                      "input is missing",
                      fmt::format("input={}", spec.name));
    const HostTensor& given = found->second;
    FROSTLINE_REQUIRE(given.dtype() == spec.dtype && given.shape() == spec.shape,
                      ErrorCode::kData,
                      "input has another type than the graph's",
                      fmt::format("input={} expected={}{} given={}{}",
                                  spec.name,
                                  to_string(spec.dtype),
                                  to_string(spec.shape),
                                  to_string(given.dtype()),
                                  to_string(given.shape())));
    values.emplace(spec.name, given);
  }
  const auto uses = last_uses(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    std::vector<const HostTensor*> operands;
    for (const std::string& input : node.inputs) {
      const auto constant = graph.initialisers.find(input);
      operands.push_back(constant != graph.initialisers.end() ? &constant->second
                                                              : &values.find(input)->second);
    }
    const TensorSpec& spec = types.find(node.outputs.front())->second;
    HostTensor output(spec.dtype, spec.shape);
    run_node(node, operands, output);
    values.insert_or_assign(spec.name, std::move(output));
    for (const std::string& input : node.inputs) {
      if (uses.find(input)->second == i) {
        values.erase(input);
      }
    }
  }
  NamedTensors outputs;
  for (const TensorSpec& spec : graph.outputs) {
    outputs.emplace(spec.name, values.find(spec.name)->second);
  }
  return outputs;
}

}  // namespace frostline::graph
