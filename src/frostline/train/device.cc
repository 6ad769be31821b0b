#include "frostline/train/device.h"

#include <fstream>
#include <mutex>

#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include "frostline/core/error.h"

namespace frostline::train {

at::Device open_device(const std::string& name) {
  if (name == "cpu") {
    return at::kCPU;
  }
  FROSTLINE_REQUIRE(name.rfind("cuda", 0) == 0,
                    ErrorCode::kUsage,
                    "unknown device",
                    fmt::format("--device={} ; known: cpu, cuda, cuda:N", name));
  FROSTLINE_REQUIRE(at::hasCUDA(),
                    ErrorCode::kDevice,
                    "no CUDA device",
                    fmt::format("--device={} ; use --device cpu, or a build with the preset 'cuda' "
                                "on a machine with an NVIDIA GPU",
                                name));
  try {
    at::Device device(name);
    return device.has_index() ? device : at::Device(at::kCUDA, 0);
  } catch (const c10::Error& e) {
    throw Error(ErrorCode::kUsage,
                "unknown device",
                fmt::format("--device={} ; {}", name, e.what_without_backtrace()));
  }
}

at::ScalarType scalar_type(const std::string& precision) {
  return precision == "bf16" ? at::kBFloat16 : at::kFloat;
}

policy::Dropout step_dropout(at::Device device,
                             double probability,
                             std::uint64_t seed,
                             std::int64_t step) {
  if (probability <= 0) {
    return {};
  }
  if (device.is_cpu()) {
    return policy::Dropout(probability, seed, static_cast<std::uint64_t>(step));
  }
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard lock(generator.mutex());
  generator.set_current_seed(policy::dropout_seed(seed, static_cast<std::uint64_t>(step)));
  return policy::Dropout::from_device_generator(probability);
}

void synchronise(at::Device device) {
  if (!device.is_cpu()) {
    c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
  }
}

void reset_peak_memory(at::Device device) {
  if (device.is_cpu()) {
    // 5 resets the peak of the resident set (Documentation/filesystems/proc.rst of Linux).
    std::ofstream("/proc/self/clear_refs") << 5;
  } else {
    at::getDeviceAllocator(device.type())->resetPeakStats(device.index());
  }
}

std::int64_t peak_memory_bytes(at::Device device) {
  if (!device.is_cpu()) {
    return at::getDeviceAllocator(device.type())
        ->getDeviceStats(device.index())
        .allocated_bytes[0]
        .peak;
  }
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    std::int64_t kib = 0;
    if (key == "VmHWM:" && status >> kib) {
      return kib * 1024;
    }
  }
  return 0;
}

}  // namespace frostline::train
