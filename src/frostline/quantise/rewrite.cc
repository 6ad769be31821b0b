#include "frostline/quantise/rewrite.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace frostline::quantise {

namespace {

using graph::Graph;
using graph::Node;
using graph::Op;

bool is_quantisable(const Graph& graph, const Node& node) {
  return (node.op == Op::kConv || node.op == Op::kMatMul) &&
         graph.initialisers.contains(node.inputs[1]);
}

HostTensor scalar(float value) {
  HostTensor tensor(DType::kF32, {});
  tensor.data<float>()[0] = value;
  return tensor;
}

/// Builds the rewritten graph node by node.
class Rewriter {
 public:
  Rewriter(const Graph& graph, const CodeSchemes& schemes, const std::set<std::string>& keep_float)
      : graph_(graph), schemes_(schemes), keep_float_(keep_float) {
    result_.name = graph.name;
    result_.inputs = graph.inputs;
    for (const TensorSpec& output : graph.outputs) {
      renamed_.emplace(output.name, output.name + "/value");
    }
    for (const Node& node : graph.nodes) {
      if (is_quantisable(graph, node) && !keep_float.contains(node.name)) {
        products_.insert(node.inputs[0]);
      }
    }
  }

  Graph run() {
    for (const Node& node : graph_.nodes) {
      Node copy = node;
      for (std::string& input : copy.inputs) {
        input = current_name(input);
      }
      for (std::string& output : copy.outputs) {
        output = current_name(output);
      }
      if (is_quantisable(graph_, node) && !keep_float_.contains(node.name)) {
        copy.inputs[0] = coded_activation(node.inputs[0]);
        copy.inputs[1] = coded_weight(node);
      }
      if (node.op == Op::kAdd) {
        for (std::size_t i = 0; i < copy.inputs.size(); ++i) {
          if (is_skip(node.inputs[i])) {
            copy.inputs[i] = coded_activation(node.inputs[i]);
          }
        }
      }
      for (const std::string& input : copy.inputs) {
        copy_constant(input);
      }
      result_.nodes.push_back(std::move(copy));
    }
    for (const TensorSpec& output : graph_.outputs) {
      add_output(output);
    }
    graph::infer_types(result_);
    return std::move(result_);
  }

 private:
  std::string current_name(const std::string& name) const {
    const auto found = renamed_.find(name);
    return found == renamed_.end() ? name : found->second;
  }

  /// True for what a convolutional block adds to its result: a non-negative tensor that a product
  /// reads as codes.
  bool is_skip(const std::string& tensor) const {
    return products_.contains(tensor) && scheme(tensor).dtype == DType::kU8;
  }

  const CodeScheme& scheme(const std::string& tensor) const {
    const auto found = schemes_.find(tensor);
    FROSTLINE_REQUIRE(found != schemes_.end(),
                      ErrorCode::kUsage,
                      "tensor has no range",
                      fmt::format("tensor={} ; calibrate it", tensor));
    FROSTLINE_REQUIRE(found->second.scale > 0.0F && std::isfinite(found->second.scale),
                      ErrorCode::kUsage,
                      "scale must be positive",
                      fmt::format("tensor={} scale={}", tensor, found->second.scale));
    return found->second;
  }

  void copy_constant(const std::string& name) {
    const auto found = graph_.initialisers.find(name);
    if (found != graph_.initialisers.end() && !result_.initialisers.contains(name)) {
      result_.initialisers.emplace(name, found->second);
    }
  }

  void add_node(Op op,
                const std::string& output,
                std::vector<std::string> inputs,
                std::map<std::string, graph::Attribute, std::less<>> attributes = {}) {
    result_.nodes.push_back({op, output, std::move(inputs), {output}, std::move(attributes)});
  }

  std::string coded_activation(const std::string& tensor) {
    const std::string decoded = tensor + "/decoded";
    if (coded_.insert(tensor).second) {
      const CodeScheme& codes = scheme(tensor);
      result_.initialisers.emplace(tensor + "/scale", scalar(codes.scale));
      result_.initialisers.emplace(tensor + "/zero", HostTensor(codes.dtype, {}));
      add_node(Op::kQuantizeLinear,
               tensor + "/codes",
               {current_name(tensor), tensor + "/scale", tensor + "/zero"});
      add_node(
          Op::kDequantizeLinear, decoded, {tensor + "/codes", tensor + "/scale", tensor + "/zero"});
    }
    return decoded;
  }

  std::string coded_weight(const Node& node) {
    const std::string& name = node.inputs[1];
    const std::string decoded = name + "/decoded";
    if (coded_.insert(name).second) {
      const HostTensor& weight = graph_.initialisers.find(name)->second;
      const std::size_t axis = node.op == Op::kConv ? 0 : weight.shape().size() - 1;
      CodedWeight coded = code_weight(weight, axis);
      result_.initialisers.emplace(name + "/zero", HostTensor(DType::kI8, coded.scales.shape()));
      result_.initialisers.emplace(name + "/codes", std::move(coded.codes));
      result_.initialisers.emplace(name + "/scale", std::move(coded.scales));
      add_node(Op::kDequantizeLinear,
               decoded,
               {name + "/codes", name + "/scale", name + "/zero"},
               {{"axis", static_cast<std::int64_t>(axis)}});
    }
    return decoded;
  }

  void add_output(const TensorSpec& output) {
    const CodeScheme& codes = scheme(output.name);
    FROSTLINE_REQUIRE(codes.dtype == DType::kI8,
                      ErrorCode::kUsage,
                      "output must have i8 codes",
                      fmt::format("output={} dtype={}", output.name, to_string(codes.dtype)));
    result_.initialisers.emplace(output.name + "/out_scale", scalar(codes.scale));
    result_.initialisers.emplace(output.name + "/out_zero", HostTensor(DType::kI8, {}));
    add_node(Op::kQuantizeLinear,
             output.name,
             {current_name(output.name), output.name + "/out_scale", output.name + "/out_zero"});
    result_.outputs.push_back({output.name, DType::kI8, output.shape});
  }

  const Graph& graph_;
  const CodeSchemes& schemes_;
  const std::set<std::string>& keep_float_;
  Graph result_;
  std::map<std::string, std::string> renamed_;
  std::set<std::string> products_;  ///< Tensors that products read as codes.
  std::set<std::string> coded_;
};

}  // namespace

std::vector<std::string> quantisable_nodes(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) {
    if (is_quantisable(graph, node)) {
      names.push_back(node.name);
    }
  }
  return names;
}

std::vector<std::string> quantised_tensors(const Graph& graph,
                                           const std::set<std::string>& keep_float) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  };
  for (const Node& node : graph.nodes) {
    if (is_quantisable(graph, node) && !keep_float.contains(node.name)) {
      add(node.inputs[0]);
    }
  }
  for (const TensorSpec& output : graph.outputs) {
    add(output.name);
  }
  return names;
}

Graph insert_codes(const Graph& graph,
                   const CodeSchemes& schemes,
                   const std::set<std::string>& keep_float) {
  return Rewriter(graph, schemes, keep_float).run();
}

CodedWeight code_weight(const HostTensor& weight, std::size_t axis) {
  const Shape& shape = weight.shape();
  FROSTLINE_CHECK(axis < shape.size());
  const auto num_slices = static_cast<std::size_t>(shape[axis]);
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) {
    inner *= static_cast<std::size_t>(shape[i]);
  }
  CodedWeight coded{HostTensor(DType::kI8, shape), HostTensor(DType::kF32, {shape[axis]})};
  const auto values = weight.data<float>();
  const auto scales = coded.scales.data<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    float& top = scales[i / inner % num_slices];
    top = std::max(top, std::fabs(values[i]));
  }
  for (float& scale : scales) {
    scale = std::max(scale / 127.0F, std::numeric_limits<float>::min());
  }
  const auto codes = coded.codes.data<std::int8_t>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float code = std::nearbyint(values[i] / scales[i / inner % num_slices]);
    codes[i] = static_cast<std::int8_t>(std::clamp(code, -127.0F, 127.0F));
  }
  return coded;
}

}  // namespace frostline::quantise
