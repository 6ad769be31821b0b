#include "frostline/split/encoder_graph.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "frostline/graph/interpreter.h"
#include "frostline/split/boundary.h"
#include "frostline/split/encoder_weights.h"
#include "tests/support/tiny_artefact.h"

namespace frostline::split {
namespace {

TEST(Boundary, ParsesAndNamesWhatCrosses) {
  EXPECT_EQ(parse_boundary("L0", 4), 0);
  EXPECT_EQ(parse_boundary("L4", 4), 4);
  EXPECT_EQ(crossing_tensors(1), (std::vector<std::string>{"x_0", "x_1"}));
  EXPECT_EQ(tail_of(1, 3).reconstructed, std::vector<int>{0});
  EXPECT_EQ(tail_of(1, 3).computed, (std::vector<int>{1, 2}));
  for (const char* text : {"L5", "l1", "", "4", "L-1", "L44"}) {
    try {
      parse_boundary(text, 4);
      FAIL() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kUsage);
      EXPECT_NE(std::string(e.what()).find("L0..L4"), std::string::npos);
    }
  }
  EXPECT_THROW(tail_of(5, 4), Error);
}

TEST(EncoderGraph, HasTheBoundaryTensorsOfItsBoundary) {
  for (int boundary = 0; boundary <= 2; ++boundary) {
    const graph::Graph graph = test::tiny_encoder_graph(boundary, 3);
    ASSERT_EQ(graph.outputs.size(), static_cast<std::size_t>(boundary) + 1);
    EXPECT_EQ(graph.inputs.front(), (TensorSpec{"image", DType::kU8, {3, 64, 96, 3}}));
    EXPECT_EQ(graph.outputs.back(),
              (TensorSpec{boundary_tensor(boundary), DType::kF32, {3, 6, 16}}));
  }
}

TEST(EncoderGraph, ADeeperBoundaryChangesNoEarlierTensor) {
  const HostTensor images = test::tiny_frames(1, 5);
  const auto shallow = graph::interpret(test::tiny_encoder_graph(0, 1), {{"image", images}});
  const auto deep = graph::interpret(test::tiny_encoder_graph(2, 1), {{"image", images}});
  EXPECT_TRUE(std::ranges::equal(shallow.at("x_0").data<float>(), deep.at("x_0").data<float>()));
  EXPECT_FALSE(std::ranges::equal(deep.at("x_1").data<float>(), deep.at("x_2").data<float>()));
}

TEST(EncoderGraph, NamesAMissingOrWrongWeight) {
  const auto spec = test::tiny_encoder_spec();
  const auto message = [&](const NamedTensors& weights) -> std::string {
    try {
      encoder_graph(spec, weights, 2, 1);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kData);
      return e.what();
    }
    return {};
  };
  NamedTensors weights = test::RandomEncoder(7).weights(spec);
  const std::string name = "model.encoder.layers.1.linear2.weight";
  weights.insert_or_assign(name, HostTensor(DType::kF32, {16, 31}));
  EXPECT_NE(message(weights).find("weight=" + name + " expected=[16, 32] found=f32[16, 31]"),
            std::string::npos)
      << message(weights);
  weights.erase(name);
  EXPECT_NE(message(weights).find("weight=" + name), std::string::npos);
  EXPECT_THROW(encoder_graph(spec, weights, 3, 1), Error);
}

TEST(EncoderGraph, FoldsBatchNorm) {
  NamedTensors weights;
  const auto add = [&](const std::string& name, const Shape& shape, std::vector<float> values) {
    weights.emplace("model." + name, HostTensor::from<float>(shape, values));
  };
  add("c.weight", {1, 1, 1, 1}, {2.0F});
  add("n.weight", {1}, {3.0F});
  add("n.bias", {1}, {0.5F});
  add("n.running_mean", {1}, {1.0F});
  add("n.running_var", {1}, {4.0F - 1e-5F});
  const auto folded = fold_batch_norm(EncoderWeights(weights), "c", "n", {1, 1, 1, 1});
  EXPECT_NEAR(folded.weight.data<float>()[0], 3.0F, 1e-6F);
  EXPECT_NEAR(folded.bias.data<float>()[0], -1.0F, 1e-6F);
}

TEST(EncoderGraph, SinePositionFollowsTheFormula) {
  const HostTensor table = sine_position(2, 3, 8);
  const auto values = table.data<float>();
  // Token of row 1, column 2; divisors 10000^0 and 10000^(2/4).
  const std::size_t start = 5 * 8;
  const double turn = 6.283185307179586;
  const double row = 2.0 / (2.0 + 1e-6) * turn;
  const double column = 3.0 / (3.0 + 1e-6) * turn;
  EXPECT_NEAR(values[start], std::sin(row), 1e-6);
  EXPECT_NEAR(values[start + 1], std::cos(row), 1e-6);
  EXPECT_NEAR(values[start + 2], std::sin(row / 100.0), 1e-6);
  EXPECT_NEAR(values[start + 3], std::cos(row / 100.0), 1e-6);
  EXPECT_NEAR(values[start + 6], std::sin(column / 100.0), 1e-6);
}

}  // namespace
}  // namespace frostline::split
