#include "frostline/accel/openvino/openvino_core.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace frostline::accel {

namespace {

ov::element::Type rest_precision(const std::string& precision) {
  return precision.ends_with("bf16") ? ov::element::bf16 : ov::element::f32;
}

}  // namespace

ov::Core& openvino_core() {
  static ov::Core core;
  return core;
}

std::vector<std::string> openvino_precisions(const std::string& device) {
  const auto capabilities = openvino_core().get_property(device, ov::device::capabilities);
  const auto has = [&](const char* name) {
    return std::ranges::find(capabilities, name) != capabilities.end();
  };
  std::vector<std::string> precisions;
  if (has("FP32")) {
    precisions.emplace_back("fp32");
  }
  if (has("BF16")) {
    precisions.emplace_back("bf16");
  }
  if (has("INT8")) {
    precisions.emplace_back("int8");
  }
  if (has("INT8") && has("BF16")) {
    precisions.emplace_back("int8+bf16");
  }
  return precisions;
}

ov::CompiledModel compile_openvino(const Artefact& artefact,
                                   const std::string& device,
                                   const CompileOptions& options) {
  FROSTLINE_REQUIRE(options.num_slots > 0 && options.num_threads > 0,
                    ErrorCode::kUsage,
                    "slots and threads must be positive",
                    fmt::format("slots={} threads={}", options.num_slots, options.num_threads));
  const auto precisions = openvino_precisions(device);
  FROSTLINE_REQUIRE(std::ranges::find(precisions, artefact.precision) != precisions.end(),
                    ErrorCode::kUnsupported,
                    "device does not run this precision",
                    fmt::format("device=openvino:{} precision={} ; it runs: {}",
                                device,
                                artefact.precision,
                                fmt::join(precisions, ", ")));
  try {
    const auto model = openvino_core().read_model(artefact.onnx, ov::Tensor());
    // The CPU's default is bf16 where the processor has it, so the rest is always set. One stream:
    // a batch is the unit of work, and slots queue behind each other.
    ov::AnyMap properties{
        {ov::hint::inference_precision.name(), rest_precision(artefact.precision)},
        {ov::num_streams.name(), ov::streams::Num(1)}};
    if (device == "CPU") {
      properties.insert(ov::inference_num_threads(options.num_threads));
      properties.insert(ov::hint::enable_cpu_pinning(false));
    }
    return openvino_core().compile_model(model, device, properties);
  } catch (const std::exception& e) {
    throw Error(
        ErrorCode::kDevice,
        "OpenVINO cannot compile the encoder",
        fmt::format("device=openvino:{} precision={} ; {}", device, artefact.precision, e.what()));
  }
}

std::string instruction_set() {
#if defined(__x86_64__)
  // Source: Intel SDM volume 2A, CPUID leaf 7.
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) {
    return "sse";
  }
  if ((d >> 25 & 1U) != 0) {
    return "amx_int8";
  }
  if ((c >> 11 & 1U) != 0) {
    return "avx512_vnni";
  }
  const bool has_avx2 = (b >> 5 & 1U) != 0;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1U) != 0) {
    return "avx_vnni";
  }
  return has_avx2 ? "avx2" : "sse";
#else
  return "other";
#endif
}

}  // namespace frostline::accel
