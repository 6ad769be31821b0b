#include "frostline/power/nvml/nvml_library.h"

#include <array>

#include <dlfcn.h>

#include <fmt/format.h>

namespace frostline::power {

namespace {

template <class Function>
bool look_up(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, symbol));
  return function != nullptr;
}

}  // namespace

std::shared_ptr<const NvmlLibrary> NvmlLibrary::open(const std::string& name,
                                                     std::string& problem,
                                                     bool& is_missing) {
  is_missing = false;
  const std::shared_ptr<NvmlLibrary> nvml(new NvmlLibrary());
  nvml->library_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (nvml->library_ == nullptr) {
    const char* reason = ::dlerror();
    is_missing = true;
    problem = fmt::format("cannot open {}: {} ; install the NVIDIA driver's library",
                          name,
                          reason == nullptr ? "unknown reason" : reason);
    return nullptr;
  }
  if (const std::string missing = nvml->resolve(nvml->library_); !missing.empty()) {
    problem = fmt::format("{} lacks {} ; the driver is too old", name, missing);
    return nullptr;
  }
  if (const int code = nvml->init_(); code != kSuccess) {
    problem = fmt::format("NVML does not start: {}", nvml->describe(code));
    return nullptr;
  }
  nvml->is_initialised_ = true;
  return nvml;
}

NvmlLibrary::~NvmlLibrary() {
  if (is_initialised_) {
    shutdown_();
  }
  if (library_ != nullptr) {
    ::dlclose(library_);
  }
}

std::string NvmlLibrary::resolve(void* library) {
  std::string missing;
  const auto need = [&](const char* symbol, auto& function) {
    if (!look_up(library, symbol, function) && missing.empty()) {
      missing = symbol;
    }
  };
  need("nvmlInit_v2", init_);
  need("nvmlShutdown", shutdown_);
  need("nvmlDeviceGetCount_v2", count_);
  need("nvmlDeviceGetHandleByIndex_v2", handle_);
  need("nvmlDeviceGetName", name_);
  need("nvmlDeviceGetUUID", uuid_);
  need("nvmlDeviceGetTotalEnergyConsumption", energy_);
  need("nvmlErrorString", error_string_);
  return missing;
}

std::string NvmlLibrary::text(int (*get)(Device, char*, unsigned), Device device) const {
  std::array<char, 128> buffer{};
  const int code = get(device, buffer.data(), static_cast<unsigned>(buffer.size()));
  return code == kSuccess ? std::string(buffer.data()) : std::string("unknown");
}

std::string NvmlLibrary::name(Device device) const {
  return text(name_, device);
}

std::string NvmlLibrary::uuid(Device device) const {
  return text(uuid_, device);
}

std::string NvmlLibrary::describe(int code) const {
  const char* text = error_string_(code);
  return fmt::format("{} (NVML code {})", text == nullptr ? "unknown error" : text, code);
}

}  // namespace frostline::power
