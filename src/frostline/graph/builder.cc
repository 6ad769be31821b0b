#include "frostline/graph/builder.h"

#include <utility>

#include <fmt/format.h>

namespace frostline::graph {

std::string Builder::input(TensorSpec spec) {
  graph_.inputs.push_back(std::move(spec));
  return graph_.inputs.back().name;
}

std::string Builder::constant(const std::string& name, HostTensor value) {
  graph_.initialisers.emplace(name, std::move(value));
  return name;
}

std::string Builder::constant(const std::string& name,
                              const Shape& shape,
                              std::span<const float> values) {
  return constant(name, HostTensor::from<float>(shape, values));
}

std::string Builder::node(Op op,
                          const std::string& output,
                          std::vector<std::string> inputs,
                          std::map<std::string, Attribute, std::less<>> attributes) {
  graph_.nodes.push_back({op, output, std::move(inputs), {output}, std::move(attributes)});
  return output;
}

std::string Builder::conv(const std::string& output,
                          const std::string& x,
                          const std::string& weight,
                          const std::string& bias,
                          std::int64_t stride,
                          std::int64_t pad) {
  const Shape& shape = graph_.initialisers.at(weight).shape();
  return node(Op::kConv,
              output,
              {x, weight, bias},
              {{"kernel_shape", std::vector<std::int64_t>{shape.at(2), shape.at(3)}},
               {"strides", std::vector<std::int64_t>{stride, stride}},
               {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}}});
}

std::string Builder::reshape(const std::string& output,
                             const std::string& x,
                             const std::vector<std::int64_t>& shape) {
  const std::string target =
      constant(output + "/shape",
               HostTensor::from<std::int64_t>({static_cast<std::int64_t>(shape.size())}, shape));
  return node(Op::kReshape, output, {x, target});
}

std::string Builder::transpose(const std::string& output,
                               const std::string& x,
                               std::vector<std::int64_t> order) {
  return node(Op::kTranspose, output, {x}, {{"perm", std::move(order)}});
}

std::string Builder::layer_norm(const std::string& output,
                                const std::string& x,
                                const std::string& scale,
                                const std::string& bias,
                                float epsilon) {
  return node(Op::kLayerNormalization,
              output,
              {x, scale, bias},
              {{"axis", std::int64_t{-1}}, {"epsilon", epsilon}});
}

Graph Builder::finish(const std::vector<std::string>& outputs) && {
  graph_.outputs.clear();
  // Types are inferred once without outputs to learn those of the outputs.
  const TensorTypes types = infer_types(graph_);
  for (const std::string& output : outputs) {
    const auto found = types.find(output);
    FROSTLINE_REQUIRE(found != types.end(),
                      ErrorCode::kData,
                      "output is made by no node",
                      fmt::format("output={}", output));
    graph_.outputs.push_back(found->second);
  }
  return std::move(graph_);
}

}  // namespace frostline::graph
