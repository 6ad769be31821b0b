#include "frostline/quantise/quantise.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "frostline/graph/interpreter.h"
#include "frostline/graph/onnx.h"
#include "tests/support/tiny_artefact.h"

namespace frostline::quantise {
namespace {

using graph::Op;

/// Runs artefacts with the reference interpreter.
accel::Compiler interpreter_compiler() {
  return [](const accel::Artefact& artefact) -> accel::Runner {
    const graph::Graph graph = graph::from_onnx(artefact.onnx, "memory");
    return [graph](const HostTensor& images) {
      const NamedTensors outputs = graph::interpret(graph, {{"image", images}});
      std::vector<HostTensor> result;
      for (const TensorSpec& spec : graph.outputs) {
        result.push_back(outputs.at(spec.name));
      }
      return result;
    };
  };
}

std::vector<HostTensor> frames(std::int64_t n, std::uint64_t seed) {
  return batches_of(test::tiny_frames(n, seed), 2);
}

std::int64_t count(const graph::Graph& graph, Op op) {
  return std::ranges::count(graph.nodes, op, &graph::Node::op);
}

template <class Call>
std::string error_of(Call call, ErrorCode code) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

TEST(Histogram, MethodsChooseTheirMagnitude) {
  Histogram histogram(0.0F, 100.0F);
  std::vector<float> values(100000, 1.0F);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i % 1000) / 1000.0F;
  }
  values.push_back(100.0F);
  histogram.add(values);
  EXPECT_FLOAT_EQ(histogram.magnitude(RangeMethod::kMinMax), 100.0F);
  EXPECT_NEAR(histogram.magnitude(RangeMethod::kPercentile), 1.0F, 0.05F);
  EXPECT_LT(histogram.magnitude(RangeMethod::kMse), 100.0F);
  EXPECT_EQ(histogram.scheme(RangeMethod::kMinMax), (CodeScheme{DType::kU8, 100.0F / 255.0F}));
  EXPECT_EQ(Histogram(-2.0F, 1.0F).scheme(RangeMethod::kMinMax),
            (CodeScheme{DType::kI8, 2.0F / 127.0F}));
  EXPECT_GT(Histogram(0.0F, 0.0F).scheme(RangeMethod::kMse).scale, 0.0F);
}

TEST(CodeWeight, HasAScalePerOutputChannel) {
  const auto weight = HostTensor::from<float>({2, 2}, std::vector<float>{1.0F, 0.0F, -2.0F, 0.5F});
  const CodedWeight rows = code_weight(weight, 0);
  const auto codes = rows.codes.data<std::int8_t>();
  EXPECT_EQ(std::vector<int>(codes.begin(), codes.end()), (std::vector<int>{127, 0, -127, 32}));
  EXPECT_FLOAT_EQ(rows.scales.data<float>()[1], 2.0F / 127.0F);
  EXPECT_FLOAT_EQ(code_weight(weight, 1).scales.data<float>()[1], 0.5F / 127.0F);
}

TEST(InsertCodes, PutsAPairBeforeEveryProduct) {
  const graph::Graph before = test::tiny_encoder_graph(1, 2);
  const auto products = quantisable_nodes(before);
  EXPECT_EQ(products.size(), 20U + 1U + 6U);
  const auto tensors = quantised_tensors(before, {});
  CodeSchemes schemes;
  for (const std::string& tensor : tensors) {
    schemes.emplace(tensor, CodeScheme{DType::kI8, 0.02F});
  }
  const graph::Graph after = insert_codes(before, schemes, {});
  EXPECT_EQ(count(before, Op::kQuantizeLinear), 0);
  EXPECT_EQ(count(after, Op::kQuantizeLinear), std::ssize(tensors));
  EXPECT_EQ(count(after, Op::kDequantizeLinear), std::ssize(tensors) - 2 + std::ssize(products));
  for (const graph::Node& node : after.nodes) {
    if (std::ranges::find(products, node.name) != products.end()) {
      EXPECT_TRUE(node.inputs[0].ends_with("/decoded")) << node.name;
      EXPECT_TRUE(node.inputs[1].ends_with("/decoded")) << node.name;
    }
  }
  EXPECT_EQ(after.outputs.front(), (TensorSpec{"x_0", DType::kI8, {2, 6, 16}}));
  EXPECT_FALSE(after.initialisers.contains("backbone.conv1.weight"));
}

TEST(InsertCodes, LeavesKeptNodesAndRefusesAMissingRange) {
  const graph::Graph before = test::tiny_encoder_graph(0, 1);
  const auto products = quantisable_nodes(before);
  const std::set<std::string> all(products.begin(), products.end());
  const CodeSchemes outputs{{"x_0", CodeScheme{DType::kI8, 0.05F}}};
  const graph::Graph kept = insert_codes(before, outputs, all);
  EXPECT_EQ(count(kept, Op::kDequantizeLinear), 0);
  const HostTensor image = test::tiny_frames(1, 3);
  const NamedTensors plain = graph::interpret(before, {{"image", image}});
  const NamedTensors coded = graph::interpret(kept, {{"image", image}});
  const auto values = plain.at("x_0").data<float>();
  const auto codes = coded.at("x_0").data<std::int8_t>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(codes[i], std::clamp(std::nearbyint(values[i] / 0.05F), -128.0F, 127.0F));
  }
  EXPECT_NE(error_of([&] { insert_codes(before, outputs, {}); }, ErrorCode::kUsage)
                .find("tensor=image/nchw"),
            std::string::npos);
}

TEST(Quantise, PassesTheGateOnTheInterpreter) {
  const graph::Graph graph = test::tiny_encoder_graph(2, 2);
  const QuantiseResult result = quantise(graph, frames(4, 1), frames(2, 2), interpreter_compiler());
  ASSERT_EQ(result.report.rows.size(), 3U);
  EXPECT_TRUE(result.report.reached_target);
  EXPECT_EQ(result.report.attempts.size(), 1U);
  EXPECT_EQ(result.report.chosen, RangeMethod::kMinMax);
  EXPECT_GE(worst_cosine(result.report.rows), 0.99) << to_text(result.report.rows);
  EXPECT_LT(worst_cosine(result.report.rows), 1.0);
  EXPECT_EQ(result.artefact.precision, "int8");
  EXPECT_EQ(result.artefact.outputs.back().dtype, DType::kI8);
}

TEST(Quantise, TriesEveryMethodAndKeepsTheBestBelowTheTarget) {
  QuantiseOptions options;
  options.target_cosine = 1.0;
  const QuantiseResult result = quantise(
      test::tiny_encoder_graph(1, 2), frames(2, 1), frames(2, 2), interpreter_compiler(), options);
  EXPECT_FALSE(result.report.reached_target);
  ASSERT_EQ(result.report.attempts.size(), 3U);
  for (const Attempt& attempt : result.report.attempts) {
    EXPECT_LE(worst_cosine(attempt.rows), worst_cosine(result.report.rows));
  }
}

TEST(Quantise, RefusesBadOptionsAndValues) {
  const graph::Graph graph = test::tiny_encoder_graph(0, 2);
  const auto call = [&](const QuantiseOptions& options, const graph::Graph& network) {
    return [&] { quantise(network, frames(2, 1), frames(2, 2), interpreter_compiler(), options); };
  };
  error_of(call({.precision = "bf16"}, graph), ErrorCode::kUsage);
  EXPECT_NE(
      error_of(call({.keep_float = {"nothing"}}, graph), ErrorCode::kUsage).find("node=nothing"),
      std::string::npos);
  error_of([&] { quantise(graph, {}, frames(2, 2), interpreter_compiler()); }, ErrorCode::kUsage);
  graph::Graph broken = graph;
  broken.initialisers.at("backbone.conv1.bias").data<float>()[0] = NAN;
  EXPECT_NE(error_of(call({}, broken), ErrorCode::kNumeric).find("not finite"), std::string::npos);
}

TEST(Parity, ComparesAndRefusesByFigures) {
  const graph::Graph graph = test::tiny_encoder_graph(0, 2);
  const accel::Artefact plain = float_artefact(graph, "fp32");
  const accel::Runner run = interpreter_compiler()(plain);
  const auto same = parity({plain, run}, {plain, run}, frames(2, 1));
  EXPECT_NEAR(same.front().cosine, 1.0, 1e-9);
  EXPECT_EQ(same.front().relative_error, 0.0);
  const accel::Runner negated = [&](const HostTensor& images) {
    auto outputs = run(images);
    for (float& value : outputs.front().data<float>()) {
      value *= -2.0F;
    }
    return outputs;
  };
  const auto opposite = parity({plain, run}, {plain, negated}, frames(2, 1));
  EXPECT_NEAR(opposite.front().cosine, -1.0, 1e-6);
  EXPECT_NEAR(opposite.front().relative_error, 3.0, 1e-6);
  require_parity(same, 0.98);
  EXPECT_NE(error_of([&] { require_parity(opposite, 0.98); }, ErrorCode::kNumeric)
                .find("x_0 cosine=-1.00000 relative_error=3.00000"),
            std::string::npos);
  const std::vector<ParityRow> nan{{"x_0", NAN, 0.0}, {"x_1", 1.0, 0.0}};
  error_of([&] { require_parity(nan, 0.98); }, ErrorCode::kNumeric);
}

TEST(BatchesOf, FillsTheLastBatchWithTheLastFrame) {
  const HostTensor images = test::tiny_frames(3, 1);
  const auto batches = batches_of(images, 2);
  ASSERT_EQ(batches.size(), 2U);
  const std::size_t size = images.bytes().size() / 3;
  EXPECT_TRUE(
      std::ranges::equal(batches[1].bytes().subspan(size), images.bytes().subspan(2 * size)));
}

}  // namespace
}  // namespace frostline::quantise
