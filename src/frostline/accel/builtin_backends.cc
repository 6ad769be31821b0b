#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frostline/accel/backend.h"
#include "frostline/accel/openvino/openvino_backend.h"

namespace frostline::accel {

std::vector<std::unique_ptr<EncoderBackend>> builtin_backends() {
  std::vector<std::unique_ptr<EncoderBackend>> backends;
  backends.push_back(make_openvino_backend());
  return backends;
}

std::unique_ptr<EncoderSession> open_session(const std::string& backend_and_device,
                                             const Artefact& artefact,
                                             const CompileOptions& options) {
  const std::size_t colon = backend_and_device.find(':');
  const std::string name = backend_and_device.substr(0, colon);
  std::vector<std::string> known;
  for (const auto& backend : builtin_backends()) {
    if (backend->name() == name && colon != std::string::npos) {
      return backend->compile(artefact, backend_and_device.substr(colon + 1), options);
    }
    for (const DeviceInfo& device : backend->devices()) {
      known.push_back(fmt::format("{}:{}{}",
                                  device.backend,
                                  device.device,
                                  device.is_usable ? "" : " (not usable: " + device.reason + ")"));
    }
  }
  throw Error(ErrorCode::kUsage,
              "backend is not known",
              fmt::format("backend={} ; known: {}", backend_and_device, fmt::join(known, ", ")));
}

}  // namespace frostline::accel
