#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frostline/accel/backend.h"
#include "frostline/cli/verb.h"
#include "frostline/power/meter.h"
#include "frostline/power/meter_json.h"
#include "frostline/sim/environment.h"
#include "frostline/study/versions.h"
#include "frostline/version.h"

namespace frostline::cli {

namespace {

Json devices_json() {
  Json devices = Json::array();
  for (const auto& backend : accel::builtin_backends()) {
    for (const auto& device : backend->devices()) {
      devices.push_back({{"backend", device.backend},
                         {"device", device.device},
                         {"usable", device.is_usable},
                         {"reason", device.reason},
                         {"precisions", device.precisions}});
    }
  }
  return devices;
}

void run(const CommonOptions& options) {
  const Json libraries = study::library_versions();
  const Json devices = devices_json();
  const Json meters = power::meters_to_json(power::find_meters().domains());
  if (options.is_json) {
    print_json({{"version", kVersion},
                {"libraries", libraries},
                {"devices", devices},
                {"meters", meters}});
    return;
  }
  fmt::print("frostline {}\n\nlibraries\n", kVersion);
  for (const auto& [name, version] : libraries.items()) {
    fmt::print(
        "  {:<12} {}\n", name, version.is_null() ? "not built in" : version.get<std::string>());
  }
  fmt::print("\ndevices\n");
  for (const auto& device : devices) {
    const bool is_usable = device["usable"].get<bool>();
    fmt::print(
        "  {:<20} {}\n",
        device["backend"].get<std::string>() + ":" + device["device"].get<std::string>(),
        is_usable
            ? fmt::format("usable: {}",
                          fmt::join(device["precisions"].get<std::vector<std::string>>(), ", "))
            : "not usable: " + device["reason"].get<std::string>());
  }
  fmt::print("\nmeters\n");
  for (const auto& meter : meters) {
    fmt::print("  {:<20} {}{}\n",
               meter["domain"].get<std::string>(),
               meter["kind"].get<std::string>(),
               meter["reason"].is_null() ? "" : ": " + meter["reason"].get<std::string>());
  }
}

}  // namespace

void add_doctor(CLI::App& root) {
  auto* verb =
      root.add_subcommand("doctor", "Devices, backends, meters and versions of this machine");
  auto options = std::make_shared<CommonOptions>();
  add_common_options(*verb, *options);
  verb->callback([options] { run(*options); });
}

}  // namespace frostline::cli
