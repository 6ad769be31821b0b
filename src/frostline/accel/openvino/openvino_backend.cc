#include "frostline/accel/openvino/openvino_backend.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frostline/accel/openvino/openvino_core.h"
#include "frostline/accel/openvino/openvino_session.h"
#include "frostline/core/clock.h"

namespace frostline::accel {

namespace {

class OpenVinoBackend final : public EncoderBackend {
 public:
  std::string name() const override { return "openvino"; }

  std::string version() const override { return ov::get_openvino_version().buildNumber; }

  std::vector<DeviceInfo> devices() const override {
    std::vector<DeviceInfo> result;
    try {
      for (const std::string& device : openvino_core().get_available_devices()) {
        result.push_back({"openvino", device, true, "", openvino_precisions(device)});
      }
    } catch (const std::exception& e) {
      result.push_back({"openvino",
                        "none",
                        false,
                        fmt::format("OpenVINO cannot list its devices: {}", e.what()),
                        {}});
    }
    for (const std::string kind : {"CPU", "NPU", "GPU"}) {
      const bool is_listed = std::ranges::any_of(
          result, [&](const DeviceInfo& info) { return info.device.starts_with(kind); });
      if (!is_listed) {
        result.push_back({"openvino",
                          kind,
                          false,
                          fmt::format("OpenVINO sees no {} (no such hardware, or its driver is not "
                                      "installed)",
                                      kind),
                          {}});
      }
    }
    return result;
  }

  std::unique_ptr<EncoderSession> compile(const Artefact& artefact,
                                          const std::string& device,
                                          const CompileOptions& options) const override {
    std::vector<std::string> usable;
    for (const DeviceInfo& info : devices()) {
      if (info.is_usable) {
        usable.push_back(info.device);
      }
    }
    FROSTLINE_REQUIRE(
        std::ranges::find(usable, device) != usable.end(),
        ErrorCode::kUnsupported,
        "device is not usable",
        fmt::format("device=openvino:{} ; usable: {}", device, fmt::join(usable, ", ")));
    return std::make_unique<OpenVinoSession>(
        compile_openvino(artefact, device, options),
        artefact,
        options.num_slots,
        fmt::format("openvino {} device={} precision={} isa={}",
                    ov::get_openvino_version().buildNumber,
                    device,
                    artefact.precision,
                    device == "CPU" ? instruction_set() : "device"));
  }
};

}  // namespace

std::unique_ptr<EncoderBackend> make_openvino_backend() {
  return std::make_unique<OpenVinoBackend>();
}

ExecutionSummary openvino_execution(const Artefact& artefact, const CompileOptions& options) {
  const std::int64_t begin = Clock::steady().now_ns();
  const ov::CompiledModel model = compile_openvino(artefact, "CPU", options);
  ExecutionSummary summary;
  summary.compile_s = seconds(Clock::steady().now_ns() - begin);
  // Products between two computed tensors (attention) have the layer type MatMul.
  const std::set<std::string> products{"Convolution", "FullyConnected"};
  for (const auto& node : model.get_runtime_model()->get_ordered_ops()) {
    const auto& info = node->get_rt_info();
    const auto type = info.find("layerType");
    if (type == info.end() || !products.contains(type->second.as<std::string>())) {
      continue;
    }
    const auto precision = info.at("runtimePrecision").as<std::string>();
    ++summary.num_products;
    if (precision == "i8" || precision == "u8") {
      ++summary.num_int8;
    } else {
      summary.not_int8.push_back(fmt::format("{}: {}", node->get_friendly_name(), precision));
    }
  }
  return summary;
}

}  // namespace frostline::accel
