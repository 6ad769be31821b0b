#include "frostline/accel/openvino/openvino_backend.h"

namespace frostline::accel {

namespace {

constexpr const char* kReason =
    "this build has no OpenVINO; run scripts/setup.sh and configure with "
    "-DFROSTLINE_WITH_OPENVINO=ON";

class MissingOpenVino final : public EncoderBackend {
 public:
  std::string name() const override { return "openvino"; }

  std::string version() const override { return {}; }

  std::vector<DeviceInfo> devices() const override {
    return {{"openvino", "none", false, kReason, {}}};
  }

  std::unique_ptr<EncoderSession> compile(const Artefact& /*artefact*/,
                                          const std::string& device,
                                          const CompileOptions& /*options*/) const override {
    throw Error(ErrorCode::kUnsupported,
                "device is not usable",
                "device=openvino:" + device + " ; " + kReason);
  }
};

}  // namespace

std::unique_ptr<EncoderBackend> make_openvino_backend() {
  return std::make_unique<MissingOpenVino>();
}

ExecutionSummary openvino_execution(const Artefact& /*artefact*/,
                                    const CompileOptions& /*options*/) {
  throw Error(ErrorCode::kUnsupported, "execution cannot be inspected", kReason);
}

}  // namespace frostline::accel
