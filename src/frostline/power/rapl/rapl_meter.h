#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "frostline/power/meter.h"

namespace frostline::power {

/// Options of `find_rapl_meters`.
struct RaplOptions {
  std::filesystem::path folder = "/sys/class/powercap";
  const Clock* clock = &Clock::steady();
  /// Reads a counter file; returns 0 and its text, or an errno. Empty = the file system.
  std::function<int(const std::filesystem::path&, std::string&)> read_counter;
  /// Reads the counters in the background so often that a wrap is never missed.
  bool has_keeper = true;
};

/// Opens the package and memory counters of the processors (Intel and AMD offer the same tree).
/// Zones inside a package and the platform zone are left out: they would count twice. A counter
/// that may not be read is listed as unmeasured with the remedy. Empty when there is no tree.
///
/// Source: Linux kernel, Documentation/power/powercap/powercap.rst.
std::vector<std::unique_ptr<PowerMeter>> find_rapl_meters(const RaplOptions& options = {});

}  // namespace frostline::power
