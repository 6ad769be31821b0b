#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "frostline/graph/broadcast.h"
#include "frostline/graph/graph.h"

namespace frostline::graph {

namespace {

/// What a shape rule sees: the node, the types of its inputs and the graph's constants.
class Rule {
 public:
  Rule(const Node& node, const TensorTypes& types, const NamedTensors& constants)
      : node_(node), types_(types), constants_(constants) {}

  [[noreturn]] void fail(std::string_view message) const {
    std::string shapes;
    for (const std::string& input : node_.inputs) {
      const auto found = types_.find(input);
      shapes += fmt::format(
          " {}={}{}", input, to_string(found->second.dtype), to_string(found->second.shape));
    }
    throw Error(ErrorCode::kData,
                message,
                fmt::format("node={} op={} inputs:{}", node_.name, to_string(node_.op), shapes));
  }

  void require(bool condition, std::string_view message) const {
    if (!condition) {
      fail(message);
    }
  }

  void require_inputs(std::size_t low, std::size_t high) const {
    require(node_.inputs.size() >= low && node_.inputs.size() <= high,
            "node has the wrong number of inputs");
    require(node_.outputs.size() == 1, "node must have one output");
  }

  const TensorSpec& in(std::size_t index) const { return types_.find(node_.inputs[index])->second; }

  const Shape& shape(std::size_t index) const { return in(index).shape; }

  std::int64_t rank(std::size_t index) const {
    return static_cast<std::int64_t>(shape(index).size());
  }

  void require_float(std::size_t index) const {
    require(in(index).dtype == DType::kF32, "input must be f32");
  }

  std::size_t axis(std::int64_t value, std::int64_t num_axes) const {
    require(value >= -num_axes && value < num_axes, "axis is outside the tensor's rank");
    return static_cast<std::size_t>(value < 0 ? value + num_axes : value);
  }

  const HostTensor& constant(std::size_t index) const {
    const auto found = constants_.find(node_.inputs[index]);
    require(found != constants_.end(), "input must be a constant");
    return found->second;
  }

  const Node& node() const { return node_; }

 private:
  const Node& node_;
  const TensorTypes& types_;
  const NamedTensors& constants_;
};

TensorSpec elementwise(const Rule& rule) {
  rule.require_inputs(2, 2);
  rule.require_float(0);
  rule.require_float(1);
  const auto shape = broadcast(rule.shape(0), rule.shape(1));
  rule.require(shape.has_value(), "shapes do not broadcast");
  return {"", DType::kF32, *shape};
}

TensorSpec convolution(const Rule& rule) {
  rule.require_inputs(2, 3);
  for (std::size_t i = 0; i < rule.node().inputs.size(); ++i) {
    rule.require_float(i);
  }
  rule.require(rule.rank(0) == 4 && rule.rank(1) == 4, "convolution needs NCHW and OIHW");
  const Shape& x = rule.shape(0);
  const Shape& w = rule.shape(1);
  rule.require(rule.node().int_or("group", 1) == 1, "grouped convolution is not supported");
  rule.require(x[1] == w[1], "input channels differ from the weight's");
  if (rule.node().inputs.size() == 3) {
    rule.require(rule.shape(2) == Shape{w[0]}, "bias must have one value per output channel");
  }
  const auto window = window_of(rule.node(), w[2], w[3]);
  rule.require(window.has_value(), "strides need 2 values, pads 4, dilations 1");
  const std::int64_t high = window->extent(x[2], 0);
  const std::int64_t wide = window->extent(x[3], 1);
  rule.require(high > 0 && wide > 0, "kernel is larger than the padded input");
  return {"", DType::kF32, {x[0], w[0], high, wide}};
}

TensorSpec max_pool(const Rule& rule) {
  rule.require_inputs(1, 1);
  rule.require_float(0);
  rule.require(rule.rank(0) == 4, "pooling needs NCHW");
  const auto kernel = rule.node().ints_or("kernel_shape", {});
  rule.require(kernel.size() == 2, "kernel_shape needs 2 values");
  const auto window = window_of(rule.node(), kernel[0], kernel[1]);
  rule.require(window.has_value(), "strides need 2 values, pads 4, dilations 1");
  const Shape& x = rule.shape(0);
  const std::int64_t high = window->extent(x[2], 0);
  const std::int64_t wide = window->extent(x[3], 1);
  rule.require(high > 0 && wide > 0, "kernel is larger than the padded input");
  return {"", DType::kF32, {x[0], x[1], high, wide}};
}

TensorSpec matrix_product(const Rule& rule) {
  rule.require_inputs(2, 2);
  rule.require_float(0);
  rule.require_float(1);
  rule.require(rule.rank(0) >= 2 && rule.rank(1) >= 2, "matrix product needs rank 2 or more");
  Shape a = rule.shape(0);
  Shape b = rule.shape(1);
  rule.require(a.back() == b[b.size() - 2], "inner extents of the matrix product differ");
  const std::int64_t rows = a[a.size() - 2];
  const std::int64_t columns = b.back();
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  auto shape = broadcast(a, b);
  rule.require(shape.has_value(), "batch extents of the matrix product do not broadcast");
  shape->push_back(rows);
  shape->push_back(columns);
  return {"", DType::kF32, *shape};
}

TensorSpec reshape(const Rule& rule) {
  rule.require_inputs(2, 2);
  const HostTensor& target = rule.constant(1);
  rule.require(target.dtype() == DType::kI64 && target.shape().size() == 1,
               "target shape must be a vector of i64");
  const Shape& x = rule.shape(0);
  Shape shape;
  std::int64_t known = 1;
  std::int64_t free_axis = -1;
  for (const std::int64_t wanted : target.data<std::int64_t>()) {
    const std::size_t axis = shape.size();
    rule.require(wanted >= -1, "target shape has a negative extent");
    rule.require(wanted != 0 || axis < x.size(), "target shape copies an extent that is not there");
    rule.require(wanted != -1 || free_axis < 0, "target shape has more than one free extent");
    if (wanted == -1) {
      free_axis = static_cast<std::int64_t>(axis);
    }
    shape.push_back(wanted == 0 ? x[axis] : wanted);
    known *= wanted == -1 ? 1 : shape.back();
  }
  const std::int64_t total = num_elements(x);
  if (free_axis >= 0) {
    rule.require(known > 0 && total % known == 0, "tensor does not divide into the target shape");
    shape[static_cast<std::size_t>(free_axis)] = total / known;
  }
  rule.require(num_elements(shape) == total, "target shape has another number of elements");
  return {"", rule.in(0).dtype, shape};
}

TensorSpec transpose(const Rule& rule) {
  rule.require_inputs(1, 1);
  const auto order = rule.node().ints_or("perm", {});
  auto sorted = order;
  std::ranges::sort(sorted);
  rule.require(static_cast<std::int64_t>(order.size()) == rule.rank(0),
               "perm must name every axis once");
  Shape shape;
  for (std::size_t i = 0; i < order.size(); ++i) {
    rule.require(sorted[i] == static_cast<std::int64_t>(i), "perm must name every axis once");
    shape.push_back(rule.shape(0)[static_cast<std::size_t>(order[i])]);
  }
  return {"", rule.in(0).dtype, shape};
}

TensorSpec layer_normalization(const Rule& rule) {
  rule.require_inputs(2, 3);
  const std::int64_t rank = rule.rank(0);
  rule.require(rank > 0, "layer normalisation needs a rank");
  rule.require(
      rule.axis(rule.node().int_or("axis", -1), rank) + 1 == static_cast<std::size_t>(rank),
      "layer normalisation is supported over the last axis only");
  for (std::size_t i = 0; i < rule.node().inputs.size(); ++i) {
    rule.require_float(i);
    rule.require(i == 0 || rule.shape(i) == Shape{rule.shape(0).back()},
                 "scale and bias must have one value per channel");
  }
  return {"", DType::kF32, rule.shape(0)};
}

/// QuantizeLinear and DequantizeLinear.
TensorSpec quantisation(const Rule& rule, bool to_codes) {
  rule.require_inputs(3, 3);
  const DType codes = rule.in(2).dtype;
  rule.require(codes == DType::kI8 || codes == DType::kU8, "zero point must be i8 or u8");
  rule.require(rule.in(1).dtype == DType::kF32, "scale must be f32");
  rule.require(rule.in(0).dtype == (to_codes ? DType::kF32 : codes),
               to_codes ? "input must be f32" : "input must have the zero point's type");
  rule.require(rule.shape(1) == rule.shape(2), "scale and zero point differ in shape");
  rule.require(rule.rank(1) <= 1, "scale must be a scalar or a vector");
  if (rule.rank(1) == 1) {
    const std::size_t axis = rule.axis(rule.node().int_or("axis", 1), rule.rank(0));
    rule.require(rule.shape(1)[0] == rule.shape(0)[axis],
                 "scale must have one value per slice of the axis");
  }
  for (const float scale : rule.constant(1).data<float>()) {
    rule.require(scale > 0.0F, "scale must be positive");
  }
  return {"", to_codes ? codes : DType::kF32, rule.shape(0)};
}

TensorSpec output_of(const Rule& rule) {
  switch (rule.node().op) {
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kDiv:
      return elementwise(rule);
    case Op::kConv:
      return convolution(rule);
    case Op::kMaxPool:
      return max_pool(rule);
    case Op::kMatMul:
      return matrix_product(rule);
    case Op::kReshape:
      return reshape(rule);
    case Op::kTranspose:
      return transpose(rule);
    case Op::kLayerNormalization:
      return layer_normalization(rule);
    case Op::kQuantizeLinear:
      return quantisation(rule, true);
    case Op::kDequantizeLinear:
      return quantisation(rule, false);
    case Op::kRelu:
      rule.require_inputs(1, 1);
      rule.require_float(0);
      return {"", DType::kF32, rule.shape(0)};
    case Op::kSoftmax:
      rule.require_inputs(1, 1);
      rule.require_float(0);
      rule.require(
          rule.rank(0) > 0 &&
              rule.axis(rule.node().int_or("axis", -1), rule.rank(0)) + 1 == rule.shape(0).size(),
          "softmax is supported over the last axis only");
      return {"", DType::kF32, rule.shape(0)};
    case Op::kCast:
      rule.require_inputs(1, 1);
      rule.require(rule.node().int_or("to", 0) == 1, "cast is supported to f32 only");
      rule.require(rule.in(0).dtype == DType::kU8 || rule.in(0).dtype == DType::kI8,
                   "cast is supported from u8 and i8 only");
      return {"", DType::kF32, rule.shape(0)};
  }
  FROSTLINE_CHECK(!"known operator");
  return {};
}

void add_type(TensorTypes& types, const TensorSpec& spec, std::string_view maker) {
  const bool is_new = types.emplace(spec.name, spec).second;
  FROSTLINE_REQUIRE(is_new,
                    ErrorCode::kData,
                    "tensor name is made twice",
                    fmt::format("tensor={} at={}", spec.name, maker));
}

}  // namespace

TensorTypes infer_types(const Graph& graph) {
  TensorTypes types;
  for (const TensorSpec& input : graph.inputs) {
    for (const std::int64_t extent : input.shape) {
      FROSTLINE_REQUIRE(extent > 0,
                        ErrorCode::kData,
                        "input needs a static positive shape",
                        fmt::format("input={} shape={}", input.name, to_string(input.shape)));
    }
    add_type(types, input, "inputs");
  }
  for (const auto& [name, tensor] : graph.initialisers) {
    add_type(types, {name, tensor.dtype(), tensor.shape()}, "initialisers");
  }
  for (const Node& node : graph.nodes) {
    for (const std::string& input : node.inputs) {
      FROSTLINE_REQUIRE(
          types.contains(input),
          ErrorCode::kData,
          "input of a node is unknown or made later",
          fmt::format("node={} op={} input={}", node.name, to_string(node.op), input));
    }
    TensorSpec output = output_of(Rule(node, types, graph.initialisers));
    output.name = node.outputs.front();
    add_type(types, output, node.name);
  }
  for (const TensorSpec& output : graph.outputs) {
    const auto found = types.find(output.name);
    FROSTLINE_REQUIRE(found != types.end(),
                      ErrorCode::kData,
                      "output is made by no node",
                      fmt::format("output={}", output.name));
    FROSTLINE_REQUIRE(found->second == output,
                      ErrorCode::kData,
                      "output has another type than declared",
                      fmt::format("output={} declared={}{} inferred={}{}",
                                  output.name,
                                  to_string(output.dtype),
                                  to_string(output.shape),
                                  to_string(found->second.dtype),
                                  to_string(found->second.shape)));
  }
  return types;
}

}  // namespace frostline::graph
