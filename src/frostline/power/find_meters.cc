#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "frostline/core/log.h"
#include "frostline/power/declared/declared_meter.h"
#include "frostline/power/meter.h"
#include "frostline/power/nvml/nvml_meter.h"
#include "frostline/power/rapl/rapl_meter.h"
#include "frostline/power/unmeasured_meter.h"

namespace frostline::power {

namespace {

using Meters = std::vector<std::unique_ptr<PowerMeter>>;

void append(Meters& meters, Meters more) {
  std::move(more.begin(), more.end(), std::back_inserter(meters));
}

void declare(Meters& meters, DeclaredDomain declared, const Clock& clock) {
  const auto is_covered = [&declared](const auto& meter) {
    return covers(declared.name, meter->domain().name);
  };
  const bool has_counter = std::any_of(meters.begin(), meters.end(), [&](const auto& meter) {
    return is_covered(meter) && meter->domain().kind != Kind::kUnmeasured;
  });
  if (has_counter) {
    log_warning(
        "{} has a counter: the declared watts of {} are not used", declared.name, declared.source);
    return;
  }
  std::erase_if(meters, is_covered);
  meters.push_back(make_declared_meter(std::move(declared), clock));
}

}  // namespace

MeterSet find_meters(const MeterOptions& options) {
  Meters meters = find_nvml_meters({options.nvml_library, options.device_folder, options.clock});
  RaplOptions rapl;
  rapl.folder = options.powercap_folder;
  rapl.clock = options.clock;
  append(meters, find_rapl_meters(rapl));
  if (std::none_of(meters.begin(), meters.end(), [](const auto& meter) {
        return covers("cpu:package", meter->domain().name);
      })) {
    meters.push_back(std::make_unique<UnmeasuredMeter>(
        "cpu:package",
        "CPU package",
        fmt::format("no processor energy counter in {} (virtual machines and containers seldom "
                    "have one) ; run on the host, or declare watts in a profile",
                    options.powercap_folder)));
  }
  if (!options.declared_profile.empty()) {
    for (DeclaredDomain& declared : read_declared_profile(options.declared_profile)) {
      declare(meters, std::move(declared), *options.clock);
    }
  }
  return MeterSet(std::move(meters), *options.clock);
}

}  // namespace frostline::power
