#include "frostline/graph/graph.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace frostline::graph {

namespace {

constexpr std::array<std::pair<Op, std::string_view>, 15> kNames{{
    {Op::kAdd, "Add"},
    {Op::kCast, "Cast"},
    {Op::kConv, "Conv"},
    {Op::kDequantizeLinear, "DequantizeLinear"},
    {Op::kDiv, "Div"},
    {Op::kLayerNormalization, "LayerNormalization"},
    {Op::kMatMul, "MatMul"},
    {Op::kMaxPool, "MaxPool"},
    {Op::kMul, "Mul"},
    {Op::kQuantizeLinear, "QuantizeLinear"},
    {Op::kRelu, "Relu"},
    {Op::kReshape, "Reshape"},
    {Op::kSoftmax, "Softmax"},
    {Op::kSub, "Sub"},
    {Op::kTranspose, "Transpose"},
}};

template <class T>
const T* find_attribute(const Node& node, std::string_view key) {
  const auto found = node.attributes.find(key);
  if (found == node.attributes.end()) {
    return nullptr;
  }
  const T* value = std::get_if<T>(&found->second);
  FROSTLINE_REQUIRE(value != nullptr,
                    ErrorCode::kData,
                    "attribute has the wrong type",
                    fmt::format("node={} op={} attribute={}", node.name, to_string(node.op), key));
  return value;
}

void add_attribute(Fingerprinter& hash, const std::string& key, const Attribute& attribute) {
  hash.add(key);
  hash.add(static_cast<std::int64_t>(attribute.index()));
  if (const auto* integer = std::get_if<std::int64_t>(&attribute)) {
    hash.add(*integer);
  } else if (const auto* real = std::get_if<float>(&attribute)) {
    hash.add(static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(*real)));
  } else if (const auto* text = std::get_if<std::string>(&attribute)) {
    hash.add(*text);
  } else {
    for (const std::int64_t value : std::get<std::vector<std::int64_t>>(attribute)) {
      hash.add(value);
    }
  }
}

void add_spec_without_batch(Fingerprinter& hash, const TensorSpec& spec) {
  hash.add(spec.name);
  hash.add(to_string(spec.dtype));
  for (std::size_t i = 1; i < spec.shape.size(); ++i) {
    hash.add(spec.shape[i]);
  }
}

void add_names(Fingerprinter& hash, const std::vector<std::string>& names) {
  hash.add(static_cast<std::int64_t>(names.size()));
  for (const std::string& name : names) {
    hash.add(name);
  }
}

}  // namespace

std::string_view to_string(Op op) {
  for (const auto& [known, name] : kNames) {
    if (known == op) {
      return name;
    }
  }
  FROSTLINE_CHECK(!"known operator");
  return {};
}

Op op_from_string(std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& [op, text] : kNames) {
    if (text == name) {
      return op;
    }
    known.push_back(text);
  }
  throw Error(ErrorCode::kUnsupported,
              "operator is not known",
              fmt::format("op={} ; known: {}", name, fmt::join(known, ", ")));
}

std::int64_t Node::int_or(std::string_view key, std::int64_t fallback) const {
  const auto* value = find_attribute<std::int64_t>(*this, key);
  return value == nullptr ? fallback : *value;
}

float Node::float_or(std::string_view key, float fallback) const {
  const auto* value = find_attribute<float>(*this, key);
  return value == nullptr ? fallback : *value;
}

std::vector<std::int64_t> Node::ints_or(std::string_view key,
                                        std::vector<std::int64_t> fallback) const {
  const auto* value = find_attribute<std::vector<std::int64_t>>(*this, key);
  return value == nullptr ? std::move(fallback) : *value;
}

Graph with_batch(const Graph& graph, std::int64_t batch) {
  FROSTLINE_REQUIRE(
      batch > 0, ErrorCode::kUsage, "batch size must be positive", fmt::format("batch={}", batch));
  Graph result = graph;
  for (auto* specs : {&result.inputs, &result.outputs}) {
    for (TensorSpec& spec : *specs) {
      FROSTLINE_REQUIRE(!spec.shape.empty(),
                        ErrorCode::kData,
                        "tensor has no batch dimension",
                        fmt::format("tensor={}", spec.name));
      spec.shape.front() = batch;
    }
  }
  infer_types(result);
  return result;
}

Fingerprint fingerprint(const Graph& graph) {
  Fingerprinter hash;
  hash.add("frostline.graph.1");
  for (const auto* specs : {&graph.inputs, &graph.outputs}) {
    hash.add(static_cast<std::int64_t>(specs->size()));
    for (const TensorSpec& spec : *specs) {
      add_spec_without_batch(hash, spec);
    }
  }
  for (const Node& node : graph.nodes) {
    hash.add(to_string(node.op));
    add_names(hash, node.inputs);
    add_names(hash, node.outputs);
    for (const auto& [key, attribute] : node.attributes) {
      add_attribute(hash, key, attribute);
    }
  }
  for (const auto& [name, tensor] : graph.initialisers) {
    hash.add(name);
    hash.add(to_string(tensor.dtype()));
    for (const std::int64_t extent : tensor.shape()) {
      hash.add(extent);
    }
    hash.add(tensor.bytes());
  }
  return hash.finish();
}

bool is_same(const Graph& a, const Graph& b) {
  if (a.inputs != b.inputs || a.outputs != b.outputs || a.nodes != b.nodes ||
      a.initialisers.size() != b.initialisers.size()) {
    return false;
  }
  return std::equal(a.initialisers.begin(),
                    a.initialisers.end(),
                    b.initialisers.begin(),
                    [](const auto& left, const auto& right) {
                      return left.first == right.first &&
                             left.second.dtype() == right.second.dtype() &&
                             left.second.shape() == right.second.shape() &&
                             std::ranges::equal(left.second.bytes(), right.second.bytes());
                    });
}

}  // namespace frostline::graph
