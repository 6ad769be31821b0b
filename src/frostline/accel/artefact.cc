#include "frostline/accel/artefact.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "frostline/core/json.h"
#include "frostline/core/safetensors.h"
#include "frostline/graph/onnx.h"

namespace frostline::accel {

namespace {

constexpr std::string_view kFormat = "frostline.artefact.1";
constexpr std::array<std::string_view, 4> kPrecisions{"fp32", "bf16", "int8", "int8+bf16"};

Fingerprint identity_of(const graph::Graph& graph, const Artefact& artefact) {
  Fingerprinter hash;
  hash.add(kFormat);
  hash.add(graph::fingerprint(graph).hex);
  hash.add(artefact.precision);
  for (const float scale : artefact.scales) {
    hash.add(static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(scale)));
  }
  for (const std::int32_t zero_point : artefact.zero_points) {
    hash.add(std::int64_t{zero_point});
  }
  return hash.finish();
}

Artefact read_parts(const SafeTensors& file) {
  const auto text = [&](const std::string& key) -> const std::string& {
    const auto found = file.metadata.find(key);
    FROSTLINE_REQUIRE(found != file.metadata.end(),
                      ErrorCode::kData,
                      "metadata key is missing",
                      fmt::format("key={}", key));
    return found->second;
  };
  FROSTLINE_REQUIRE(text("format") == kFormat,
                    ErrorCode::kData,
                    "file is not an artefact of a known version",
                    fmt::format("format={} known={}", text("format"), kFormat));
  const auto model = file.tensors.find("onnx");
  FROSTLINE_REQUIRE(model != file.tensors.end() && model->second.dtype() == DType::kU8,
                    ErrorCode::kData,
                    "ONNX bytes are missing",
                    "tensor=onnx");
  const auto bytes = model->second.bytes();
  const std::string onnx(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  OutputCodes codes;
  try {
    codes.scales = Json::parse(text("scales")).get<std::vector<float>>();
    codes.zero_points = Json::parse(text("zero_points")).get<std::vector<std::int32_t>>();
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorCode::kData, "scales or zero points are malformed", e.what());
  }
  Artefact artefact =
      make_artefact(graph::from_onnx(onnx, "tensor onnx"), text("precision"), codes);
  FROSTLINE_REQUIRE(artefact.fingerprint.hex == text("fingerprint"),
                    ErrorCode::kData,
                    "content does not have the fingerprint that the file states",
                    fmt::format("stated={} computed={} ; quantise the encoder again",
                                text("fingerprint"),
                                artefact.fingerprint.hex));
  return artefact;
}

}  // namespace

Artefact make_artefact(const graph::Graph& graph,
                       const std::string& precision,
                       const OutputCodes& codes) {
  FROSTLINE_REQUIRE(std::ranges::find(kPrecisions, precision) != kPrecisions.end(),
                    ErrorCode::kUsage,
                    "encoder precision is not known",
                    fmt::format("precision={} ; known: fp32, bf16, int8, int8+bf16", precision));
  const std::size_t num_outputs = graph.outputs.size();
  FROSTLINE_REQUIRE(graph.inputs.size() == 1 && num_outputs > 0 &&
                        codes.scales.size() == num_outputs &&
                        codes.zero_points.size() == num_outputs,
                    ErrorCode::kData,
                    "artefact needs one input and codes for every output",
                    fmt::format("inputs={} outputs={} scales={} zero_points={}",
                                graph.inputs.size(),
                                num_outputs,
                                codes.scales.size(),
                                codes.zero_points.size()));
  for (std::size_t i = 0; i < num_outputs; ++i) {
    FROSTLINE_REQUIRE(codes.scales[i] > 0.0F,
                      ErrorCode::kData,
                      "scale must be positive",
                      fmt::format("output={} scale={}", graph.outputs[i].name, codes.scales[i]));
  }
  Artefact artefact;
  artefact.onnx = graph::to_onnx(graph);
  artefact.input = graph.inputs.front();
  artefact.outputs = graph.outputs;
  artefact.scales = codes.scales;
  artefact.zero_points = codes.zero_points;
  artefact.precision = precision;
  artefact.fingerprint = identity_of(graph, artefact);
  return artefact;
}

Artefact with_batch(const Artefact& artefact, std::int64_t batch) {
  return make_artefact(graph::with_batch(graph::from_onnx(artefact.onnx, "artefact"), batch),
                       artefact.precision,
                       {artefact.scales, artefact.zero_points});
}

HostTensor dequantise(const Artefact& artefact, std::size_t index, const HostTensor& codes) {
  const TensorSpec& spec = artefact.outputs.at(index);
  FROSTLINE_REQUIRE(codes.dtype() == spec.dtype,
                    ErrorCode::kUsage,
                    "tensor has another element type than the artefact's output",
                    fmt::format("output={} expected={} given={}",
                                spec.name,
                                to_string(spec.dtype),
                                to_string(codes.dtype())));
  if (spec.dtype == DType::kF32) {
    return codes;
  }
  FROSTLINE_CHECK(spec.dtype == DType::kI8);
  HostTensor values(DType::kF32, codes.shape());
  const auto zero_point = static_cast<float>(artefact.zero_points[index]);
  std::ranges::transform(
      codes.data<std::int8_t>(), values.data<float>().begin(), [&](std::int8_t code) {
        return (static_cast<float>(code) - zero_point) * artefact.scales[index];
      });
  return values;
}

void save_artefact(const std::filesystem::path& path, const Artefact& artefact) {
  SafeTensors file;
  HostTensor bytes(DType::kU8, {static_cast<std::int64_t>(artefact.onnx.size())});
  std::memcpy(bytes.bytes().data(), artefact.onnx.data(), artefact.onnx.size());
  file.tensors.emplace("onnx", std::move(bytes));
  file.metadata = {{"format", std::string(kFormat)},
                   {"precision", artefact.precision},
                   {"fingerprint", artefact.fingerprint.hex},
                   {"scales", Json(artefact.scales).dump()},
                   {"zero_points", Json(artefact.zero_points).dump()}};
  write_safetensors(path, file);
}

Artefact load_artefact(const std::filesystem::path& path) {
  const SafeTensors file = read_safetensors(path);
  try {
    return read_parts(file);
  } catch (const Error& e) {
    const ErrorCode code = e.code() == ErrorCode::kUsage ? ErrorCode::kData : e.code();
    throw Error(code, "cannot load artefact", fmt::format("file={} ; {}", path.string(), e.what()));
  }
}

}  // namespace frostline::accel
