#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "frostline/power/meter.h"

namespace frostline::power {

/// Watts of one domain as a profile declares them, from a data sheet for example.
struct DeclaredDomain {
  std::string name;
  std::string scope;
  Watts idle;
  Watts busy;
  std::string source;  ///< Where the watts come from, as the profile says.
};

/// Reads a profile:
///
///     source = "data sheet of the board, 2025"
///     [[domain]]
///     name = "npu:0"
///     scope = "NPU board"
///     idle_w = 4.5
///     busy_w = 22.0
///
/// Errors: `kIo`; `kConfig` for an unknown, missing or repeated entry, negative watts, or busy
/// watts below idle ones.
std::vector<DeclaredDomain> read_declared_profile(const std::filesystem::path& path);

/// Energy = declared watts x time: `busy` watts for the busy share of the time (all of it until
/// told), `idle` watts for the rest. Thread-safe.
std::unique_ptr<PowerMeter> make_declared_meter(DeclaredDomain domain, const Clock& clock);

}  // namespace frostline::power
