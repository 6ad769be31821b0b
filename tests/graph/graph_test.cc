#include "frostline/graph/graph.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "frostline/graph/builder.h"
#include "frostline/graph/interpreter.h"

namespace frostline::graph {
namespace {

std::string error_of(const std::function<void()>& call, ErrorCode code = ErrorCode::kData) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

Shape shape_of(Op op,
               const std::vector<Shape>& inputs,
               const std::map<std::string, Attribute, std::less<>>& attributes = {}) {
  Builder builder("test");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    names.push_back(
        builder.input({std::string(1, static_cast<char>('a' + i)), DType::kF32, inputs[i]}));
  }
  builder.node(op, "y", names, attributes);
  return std::move(builder).finish({"y"}).outputs.front().shape;
}

using Ints = std::vector<std::int64_t>;

TEST(Graph, InfersShapes) {
  EXPECT_EQ(shape_of(Op::kAdd, {{2, 1, 4}, {3, 1}}), (Shape{2, 3, 4}));
  EXPECT_EQ(shape_of(Op::kMatMul, {{2, 5, 3}, {3, 7}}), (Shape{2, 5, 7}));
  EXPECT_EQ(shape_of(Op::kTranspose, {{2, 3, 4}}, {{"perm", Ints{2, 0, 1}}}), (Shape{4, 2, 3}));
  EXPECT_EQ(shape_of(Op::kConv,
                     {{1, 3, 15, 20}, {8, 3, 7, 7}},
                     {{"strides", Ints{2, 2}}, {"pads", Ints{3, 3, 3, 3}}}),
            (Shape{1, 8, 8, 10}));
  EXPECT_EQ(
      shape_of(Op::kMaxPool,
               {{1, 8, 8, 10}},
               {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}),
      (Shape{1, 8, 4, 5}));
  EXPECT_EQ(shape_of(Op::kLayerNormalization, {{2, 3}, {3}, {3}}), (Shape{2, 3}));
}

TEST(Graph, RefusesShapesThatDoNotFit) {
  const std::string text = error_of([] { shape_of(Op::kConv, {{1, 4, 8, 8}, {8, 3, 3, 3}}); });
  EXPECT_NE(text.find("input channels differ from the weight's: node=y op=Conv inputs: "
                      "a=f32[1, 4, 8, 8] b=f32[8, 3, 3, 3]"),
            std::string::npos)
      << text;
  error_of([] { shape_of(Op::kAdd, {{2, 3}, {4}}); });
  error_of([] { shape_of(Op::kMatMul, {{2, 3}, {4, 2}}); });
  error_of([] { shape_of(Op::kTranspose, {{2, 3}}, {{"perm", Ints{0, 0}}}); });
  error_of([] { shape_of(Op::kMaxPool, {{1, 1, 2, 2}}, {{"kernel_shape", Ints{3, 3}}}); });
  error_of([] { shape_of(Op::kLayerNormalization, {{2, 3}, {2}}); });
  error_of([] { shape_of(Op::kRelu, {{2}, {2}}); });
  error_of([] { shape_of(Op::kConv, {{1, 1, 4, 4}, {1, 1, 3, 3}}, {{"strides", Ints{0, 1}}}); });
  error_of([] { shape_of(Op::kMaxPool, {{1, 1, 2, 2}}, {{"kernel_shape", 1.0F}}); });
}

TEST(Graph, ReshapeCopiesAndInfersExtents) {
  const auto reshaped = [](const Ints& target) {
    Builder builder("test");
    builder.reshape("y", builder.input({"x", DType::kF32, {2, 6, 4}}), target);
    return std::move(builder).finish({"y"}).outputs.front().shape;
  };
  EXPECT_EQ(reshaped({0, 3, -1}), (Shape{2, 3, 8}));
  error_of([&] { reshaped({5, -1}); });
  error_of([&] { reshaped({-1, -1}); });
  error_of([&] { reshaped({2, 5}); });
}

TEST(Graph, RefusesUnknownInputsAndNamesMadeTwice) {
  Graph graph;
  graph.inputs = {{"x", DType::kF32, {2}}};
  graph.nodes = {{Op::kRelu, "later", {"y"}, {"z"}, {}}};
  EXPECT_NE(error_of([&] { infer_types(graph); }).find("input=y"), std::string::npos);
  graph.nodes = {{Op::kRelu, "again", {"x"}, {"x"}, {}}};
  EXPECT_NE(error_of([&] { infer_types(graph); }).find("made twice"), std::string::npos);
  graph.nodes.clear();
  graph.outputs = {{"x", DType::kF32, {3}}};
  EXPECT_NE(error_of([&] { infer_types(graph); }).find("declared=f32[3] inferred=f32[2]"),
            std::string::npos);
  EXPECT_NE(error_of([] { op_from_string("Gelu"); }, ErrorCode::kUnsupported).find("LayerNorm"),
            std::string::npos);
}

TEST(Graph, FingerprintIgnoresTheBatchAndSeesConstants) {
  const auto make = [](std::int64_t batch, float value) {
    Builder builder("test");
    builder.node(Op::kMul,
                 "y",
                 {builder.input({"x", DType::kF32, {batch, 3}}),
                  builder.constant("c", {1}, std::vector<float>{value})});
    return std::move(builder).finish({"y"});
  };
  EXPECT_EQ(fingerprint(make(1, 2.0F)), fingerprint(make(8, 2.0F)));
  EXPECT_NE(fingerprint(make(1, 2.0F)), fingerprint(make(1, 3.0F)));
  EXPECT_TRUE(is_same(with_batch(make(1, 2.0F), 8), make(8, 2.0F)));
}

std::vector<float> run(Op op,
                       const std::vector<HostTensor>& inputs,
                       const std::map<std::string, Attribute, std::less<>>& attributes = {}) {
  Builder builder("test");
  NamedTensors values;
  std::vector<std::string> names;
  for (const HostTensor& tensor : inputs) {
    const std::string name(1, static_cast<char>('a' + names.size()));
    names.push_back(builder.input({name, tensor.dtype(), tensor.shape()}));
    values.emplace(name, tensor);
  }
  builder.node(op, "y", names, attributes);
  const NamedTensors outputs = interpret(std::move(builder).finish({"y"}), values);
  const auto data = outputs.at("y").data<float>();
  return {data.begin(), data.end()};
}

HostTensor floats(const Shape& shape, const std::vector<float>& values) {
  return HostTensor::from<float>(shape, values);
}

TEST(Interpreter, ComputesByHandCheckedValues) {
  using Floats = std::vector<float>;
  EXPECT_EQ(run(Op::kSub, {floats({2, 2}, {1, 2, 3, 4}), floats({2}, {1, 10})}),
            (Floats{0, -8, 2, -6}));
  EXPECT_EQ(run(Op::kMatMul, {floats({1, 2}, {1, 2}), floats({2, 2}, {1, 2, 3, 4})}),
            (Floats{7, 10}));
  EXPECT_EQ(run(Op::kTranspose, {floats({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"perm", Ints{1, 0}}}),
            (Floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(run(Op::kConv,
                {floats({1, 1, 2, 2}, {1, 2, 3, 4}),
                 floats({1, 1, 3, 3}, Floats(9, 1.0F)),
                 floats({1}, {0.5F})},
                {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}}),
            (Floats{10.5F}));
  EXPECT_EQ(run(Op::kMaxPool,
                {floats({1, 1, 2, 2}, {-1, -2, -3, -4})},
                {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}}),
            (Floats{-1, -1, -1, -1}));
  const Floats normal = run(Op::kLayerNormalization, {floats({1, 2}, {1, 3}), floats({2}, {1, 2})});
  EXPECT_NEAR(normal[0], -1.0F, 1e-4F);
  EXPECT_NEAR(normal[1], 2.0F, 1e-4F);
  const Floats soft = run(Op::kSoftmax, {floats({1, 2}, {100.0F, 100.0F + std::log(3.0F)})});
  EXPECT_NEAR(soft[0], 0.25F, 1e-5F);
  EXPECT_NEAR(soft[1], 0.75F, 1e-5F);
}

TEST(Interpreter, QuantisesHalfToEvenAndSaturates) {
  Builder builder("test");
  builder.input({"x", DType::kF32, {1, 5}});
  builder.constant("scale", {}, std::vector<float>{0.5F});
  builder.constant("zero", HostTensor(DType::kI8, {}));
  builder.node(Op::kQuantizeLinear, "codes", {"x", "scale", "zero"});
  const Graph graph = std::move(builder).finish({"codes"});
  const NamedTensors out =
      interpret(graph, {{"x", floats({1, 5}, {0.25F, 0.75F, -0.25F, 1000.0F, -1000.0F})}});
  const auto codes = out.at("codes").data<std::int8_t>();
  EXPECT_EQ(std::vector<int>(codes.begin(), codes.end()), (std::vector<int>{0, 2, 0, 127, -128}));
}

TEST(Interpreter, RefusesAMissingOrWrongInput) {
  Builder builder("test");
  builder.node(Op::kRelu, "y", {builder.input({"x", DType::kF32, {2}})});
  const Graph graph = std::move(builder).finish({"y"});
  EXPECT_NE(error_of([&] { interpret(graph, {}); }).find("input=x"), std::string::npos);
  error_of([&] { interpret(graph, {{"x", floats({3}, {1, 2, 3})}}); });
}

}  // namespace
}  // namespace frostline::graph
