#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "frostline/accel/openvino/openvino_backend.h"
#include "frostline/accel/run.h"
#include "frostline/graph/interpreter.h"
#include "frostline/graph/onnx.h"
#include "frostline/quantise/quantise.h"
#include "frostline/split/encoder_graph.h"
#include "tests/support/tiny_artefact.h"

namespace frostline::accel {
namespace {

Compiler openvino() {
  return session_compiler("openvino:CPU", {1, 1});
}

TEST(OpenVinoEncoder, AgreesWithTheInterpreterInFp32AtDemoSize) {
  const auto spec = test::demo_encoder_spec();
  const graph::Graph graph = split::encoder_graph(spec, test::RandomEncoder(1).weights(spec), 4, 1);
  const HostTensor image = test::random_frames(1, 240, 320, 1);
  const NamedTensors expected = graph::interpret(graph, {{"image", image}});
  const auto given = openvino()(quantise::float_artefact(graph, "fp32"))(image);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto a = given[i].data<float>();
    const auto b = expected.at(graph.outputs[i].name).data<float>();
    double difference = 0.0;
    double norm = 0.0;
    for (std::size_t j = 0; j < a.size(); ++j) {
      difference += std::pow(static_cast<double>(a[j]) - b[j], 2);
      norm += std::pow(static_cast<double>(b[j]), 2);
    }
    // fp32 sums over up to 1152 terms in another order: some 1e-6; measured 6e-7 to 1e-6.
    EXPECT_LT(std::sqrt(difference / norm), 2e-5) << graph.outputs[i].name;
  }
}

TEST(OpenVinoEncoder, QuantisesPassesTheGateAndRunsInInt8) {
  const graph::Graph graph = test::tiny_encoder_graph(2, 2);
  const auto calibration = quantise::batches_of(test::tiny_frames(8, 1), 2);
  const auto held_out = quantise::batches_of(test::tiny_frames(4, 2), 2);
  const auto result = quantise::quantise(graph, calibration, held_out, openvino());
  EXPECT_GE(quantise::worst_cosine(result.report.rows), 0.99)
      << quantise::to_text(result.report.rows);
  const ExecutionSummary summary = openvino_execution(result.artefact, {1, 1});
  EXPECT_EQ(summary.num_products, 33);
  EXPECT_EQ(summary.num_int8, summary.num_products) << summary.not_int8.front();

  const graph::Graph coded = graph::from_onnx(result.artefact.onnx, "memory");
  const auto given = openvino()(result.artefact)(held_out.front());
  const NamedTensors expected = graph::interpret(coded, {{"image", held_out.front()}});
  // A code on the edge of rounding may fall either way inside the network, so values are compared
  // as the gate compares them.
  const accel::Runner interpreted = [&](const HostTensor& images) {
    const NamedTensors outputs = graph::interpret(coded, {{"image", images}});
    std::vector<HostTensor> tensors;
    for (const TensorSpec& spec : coded.outputs) {
      tensors.push_back(outputs.at(spec.name));
    }
    return tensors;
  };
  const auto rows = quantise::parity(
      {result.artefact, interpreted}, {result.artefact, openvino()(result.artefact)}, held_out);
  EXPECT_GE(quantise::worst_cosine(rows), 0.999) << quantise::to_text(rows);
}

TEST(OpenVinoEncoder, CodesAreBitIdenticalForBatch1And8) {
  const graph::Graph graph = test::tiny_encoder_graph(2, 8);
  const HostTensor images = test::tiny_frames(8, 1);
  const auto batches = quantise::batches_of(images, 8);
  const auto result = quantise::quantise(graph, batches, batches, openvino());
  const auto together = openvino()(result.artefact)(images);
  const Runner single = openvino()(with_batch(result.artefact, 1));
  const auto parts = quantise::batches_of(images, 1);
  for (std::size_t b = 0; b < parts.size(); ++b) {
    const auto alone = single(parts[b]);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      const std::size_t size = alone[i].bytes().size();
      EXPECT_TRUE(std::ranges::equal(alone[i].bytes(), together[i].bytes().subspan(b * size, size)))
          << "output " << i << " image " << b;
    }
  }
}

TEST(OpenVinoEncoder, TranslatesACompilersError) {
  Artefact artefact = test::tiny_coded_artefact(1);
  artefact.onnx = "not a model";
  try {
    open_session("openvino:CPU", artefact, {});
    FAIL() << "no error was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kDevice);
    EXPECT_NE(std::string(e.what()).find("device=openvino:CPU precision=int8"), std::string::npos);
  }
}

TEST(OpenVinoEncoder, RefusesAModelOfAnotherTypeThanStated) {
  Artefact artefact = test::tiny_coded_artefact(1);
  artefact.outputs.front().shape.back() += 1;
  try {
    open_session("openvino:CPU", artefact, {});
    FAIL() << "no error was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kDevice);
    EXPECT_NE(std::string(e.what()).find("tensor=x_0"), std::string::npos) << e.what();
  }
}

TEST(OpenVinoEncoder, ListsMissingDevicesWithTheReason) {
  for (const DeviceInfo& info : make_openvino_backend()->devices()) {
    EXPECT_EQ(info.is_usable, info.reason.empty()) << info.device;
  }
}

}  // namespace
}  // namespace frostline::accel
