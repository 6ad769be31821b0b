#include "frostline/power/declared/declared_meter.h"

#include <cmath>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "frostline/core/config.h"

namespace frostline::power {

namespace {

class DeclaredMeter final : public PowerMeter {
 public:
  DeclaredMeter(DeclaredDomain declared, const Clock& clock)
      : clock_(clock), idle_(declared.idle), busy_(declared.busy), last_ns_(clock.now_ns()) {
    domain_.name = std::move(declared.name);
    domain_.scope = fmt::format("{}, {} W idle and {} W busy declared by {}",
                                declared.scope,
                                idle_.value,
                                busy_.value,
                                declared.source);
    domain_.kind = Kind::kDeclared;
  }

  const Domain& domain() const override { return domain_; }

  std::optional<Reading> read() override {
    const std::lock_guard lock(mutex_);
    integrate();
    return Reading{last_ns_, energy_};
  }

  std::string failure() const override { return {}; }

  void set_busy_share(double share) override {
    const std::lock_guard lock(mutex_);
    integrate();
    busy_share_ = share;
  }

 private:
  void integrate() {
    const std::int64_t now_ns = clock_.now_ns();
    const double watts = idle_.value + busy_share_ * (busy_.value - idle_.value);
    energy_ = energy_ + Joules(watts * seconds(now_ns - last_ns_));
    last_ns_ = now_ns;
  }

  const Clock& clock_;
  Domain domain_;
  Watts idle_;
  Watts busy_;
  std::mutex mutex_;
  double busy_share_ = 1;
  std::int64_t last_ns_;
  Joules energy_;
};

Watts read_watts(const ConfigTable& table, std::string_view key) {
  const auto watts = table.get<double>(key);
  if (!std::isfinite(watts) || watts < 0) {
    table.refuse(key, fmt::format("watts must be finite and not negative: {}", watts));
  }
  return Watts(watts);
}

}  // namespace

std::vector<DeclaredDomain> read_declared_profile(const std::filesystem::path& path) {
  const ConfigTable profile = ConfigTable::read(path);
  const std::string source = profile.find<std::string>("source").value_or(path.filename().string());
  std::vector<DeclaredDomain> domains;
  std::set<std::string> names;
  for (const ConfigTable& table : profile.find_tables("domain")) {
    DeclaredDomain domain;
    domain.name = table.get<std::string>("name");
    domain.scope = table.find<std::string>("scope").value_or(domain.name);
    domain.idle = read_watts(table, "idle_w");
    domain.busy = read_watts(table, "busy_w");
    domain.source = source;
    if (domain.busy < domain.idle) {
      table.refuse(
          "busy_w",
          fmt::format(
              "busy watts are below idle watts: {} < {}", domain.busy.value, domain.idle.value));
    }
    if (domain.name.empty() || !names.insert(domain.name).second) {
      table.refuse("name", fmt::format("each domain has one name of its own: '{}'", domain.name));
    }
    domains.push_back(std::move(domain));
  }
  profile.finish();
  if (domains.empty()) {
    profile.refuse("domain", "the profile declares no domain ; add a [[domain]] table");
  }
  return domains;
}

std::unique_ptr<PowerMeter> make_declared_meter(DeclaredDomain domain, const Clock& clock) {
  return std::make_unique<DeclaredMeter>(std::move(domain), clock);
}

}  // namespace frostline::power
