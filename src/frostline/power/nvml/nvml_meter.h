#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frostline/power/meter.h"

namespace frostline::power {

/// Options of `find_nvml_meters`.
struct NvmlOptions {
  std::string library = "libnvidia-ml.so.1";
  std::string device_folder = "/dev";
  const Clock* clock = &Clock::steady();
};

/// Opens NVIDIA's management library at run time, if it is there, and one meter per board, which
/// reads `nvmlDeviceGetTotalEnergyConsumption`; nothing that sets anything is even looked up.
/// Boards that cannot be read, or the lack of a usable library beside a device file, give
/// unmeasured domains. Empty without an NVIDIA device.
///
/// Source: NVML API Reference, vR570 "Device Queries"; the counter steps about every 100 ms.
std::vector<std::unique_ptr<PowerMeter>> find_nvml_meters(const NvmlOptions& options = {});

}  // namespace frostline::power
