#include "frostline/accel/artefact.h"

#include <gtest/gtest.h>

#include "frostline/accel/backend.h"
#include "frostline/core/file.h"
#include "frostline/core/safetensors.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_artefact.h"

namespace frostline::accel {
namespace {

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

TEST(Artefact, LoadsWhatWasSaved) {
  const test::TempFolder folder;
  const Artefact artefact = test::tiny_coded_artefact(2);
  save_artefact(folder.path() / "a.artefact", artefact);
  const Artefact again = load_artefact(folder.path() / "a.artefact");
  EXPECT_EQ(again.onnx, artefact.onnx);
  EXPECT_EQ(again.input, artefact.input);
  EXPECT_EQ(again.outputs, artefact.outputs);
  EXPECT_EQ(again.scales, artefact.scales);
  EXPECT_EQ(again.zero_points, artefact.zero_points);
  EXPECT_EQ(again.precision, artefact.precision);
  EXPECT_EQ(again.fingerprint, artefact.fingerprint);
}

TEST(Artefact, FingerprintIgnoresTheBatchAndSeesPrecisionAndScales) {
  const graph::Graph graph = test::tiny_encoder_graph(0, 2);
  const Artefact artefact = make_artefact(graph, "fp32", {{1.0F}, {0}});
  const Artefact single = with_batch(artefact, 1);
  EXPECT_EQ(single.input.shape.front(), 1);
  EXPECT_EQ(single.fingerprint, artefact.fingerprint);
  EXPECT_NE(make_artefact(graph, "bf16", {{1.0F}, {0}}).fingerprint, artefact.fingerprint);
  EXPECT_NE(make_artefact(graph, "fp32", {{2.0F}, {0}}).fingerprint, artefact.fingerprint);
  error_of([&] { make_artefact(graph, "int4", {{1.0F}, {0}}); }, ErrorCode::kUsage);
  error_of([&] { make_artefact(graph, "fp32", {{}, {}}); }, ErrorCode::kData);
}

TEST(Artefact, RefusesChangedContent) {
  const test::TempFolder folder;
  const auto path = folder.path() / "a.artefact";
  save_artefact(path, test::tiny_coded_artefact(1));
  SafeTensors file = read_safetensors(path);
  file.metadata["scales"] = "[0.05,0.06]";
  write_safetensors(path, file);
  EXPECT_NE(error_of([&] { load_artefact(path); }, ErrorCode::kData).find("fingerprint"),
            std::string::npos);

  file.metadata["scales"] = "[0.05,";
  write_safetensors(path, file);
  error_of([&] { load_artefact(path); }, ErrorCode::kData);

  file.metadata.erase("scales");
  write_safetensors(path, file);
  EXPECT_NE(error_of([&] { load_artefact(path); }, ErrorCode::kData).find("key=scales"),
            std::string::npos);
}

TEST(Artefact, RefusesAChangedWeightAndTruncation) {
  const test::TempFolder folder;
  const auto path = folder.path() / "a.artefact";
  save_artefact(path, test::tiny_coded_artefact(1));
  const std::string bytes = read_file(path);
  std::string changed = bytes;
  changed[bytes.size() / 2] = static_cast<char>(changed[bytes.size() / 2] ^ 1);
  write_file_atomic(path, changed);
  EXPECT_NE(error_of([&] { load_artefact(path); }, ErrorCode::kData).find(path.string()),
            std::string::npos);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
    write_file_atomic(path, bytes.substr(0, size));
    error_of([&] { load_artefact(path); }, ErrorCode::kData);
  }
  error_of([&] { load_artefact(folder.path() / "none"); }, ErrorCode::kIo);
}

TEST(Artefact, DequantisesByScaleAndZeroPoint) {
  Artefact artefact;
  artefact.outputs = {{"x_0", DType::kI8, {3}}};
  artefact.scales = {0.5F};
  artefact.zero_points = {2};
  const auto codes = HostTensor::from<std::int8_t>({3}, std::vector<std::int8_t>{2, 4, -128});
  const HostTensor values = dequantise(artefact, 0, codes);
  EXPECT_EQ(values.data<float>()[0], 0.0F);
  EXPECT_EQ(values.data<float>()[1], 1.0F);
  EXPECT_EQ(values.data<float>()[2], -65.0F);
  error_of([&] { dequantise(artefact, 0, HostTensor(DType::kF32, {3})); }, ErrorCode::kUsage);
}

TEST(OpenSession, NamesKnownBackendsForAnUnknownOne) {
  const Artefact artefact = test::tiny_coded_artefact(1);
  for (const char* name : {"hailo:0", "openvino", ""}) {
    const std::string text = error_of([&] { open_session(name, artefact, {}); }, ErrorCode::kUsage);
    EXPECT_NE(text.find("openvino:"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace frostline::accel
