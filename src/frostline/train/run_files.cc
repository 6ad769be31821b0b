#include "frostline/train/run_files.h"

#include <cstdlib>
#include <fstream>
#include <string>

#include <unistd.h>

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <fmt/format.h>
#include <torch/version.h>

#include "frostline/pipeline/core_budget.h"
#include "frostline/power/meter_json.h"
#include "frostline/version.h"

namespace frostline::train {

namespace {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) {
      return line.substr(line.find(':') + 2);
    }
  }
  return "unknown";
}

}  // namespace

Json describe_machine() {
  return {{"frostline", kVersion},
          {"torch", TORCH_VERSION},
          {"cpu", processor_name()},
          {"cpu_capability", at::get_cpu_capability()},
          {"cores", pipeline::available_cores()},
          {"memory_bytes",
           static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) *
               static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE))}};
}

Json describe_run(const Json& config, const data::Dataset& dataset, const Fingerprint& encoder) {
  return {{"config", config},
          {"machine", describe_machine()},
          {"dataset", dataset.fingerprint().hex},
          {"encoder", encoder.hex}};
}

Json energy_json(const power::WindowEnergy& energy, std::int64_t samples) {
  Json document = power::to_json(energy);
  const auto total = energy.total();
  document["samples"] = samples;
  document["j_per_sample"] = total.energy && samples > 0
                                 ? Json(total.energy->value / static_cast<double>(samples))
                                 : Json();
  return document;
}

std::filesystem::path default_cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return std::filesystem::path(cache) / "frostline";
  }
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home != nullptr ? home : "/tmp") / ".cache" / "frostline";
}

}  // namespace frostline::train
