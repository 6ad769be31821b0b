
#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/power/meter.h"

namespace frostline::power {

namespace {

/// Each end of a window is off by up to one update, so 50 updates keep the error under 4 % at
/// worst.
constexpr std::int64_t kMinUpdates = 50;
constexpr std::int64_t kMinDurationNs = 5'000'000'000;

bool is_long_enough(std::int64_t duration_ns, std::int64_t update_period_ns) {
  if (duration_ns >= kMinDurationNs) {
    return true;
  }
  return update_period_ns > 0 && duration_ns >= kMinUpdates * update_period_ns;
}

DomainEnergy unmeasured(Domain domain, std::string reason) {
  domain.kind = Kind::kUnmeasured;
  domain.reason = reason.empty() ? "the counter cannot be read" : std::move(reason);
  return {std::move(domain), std::nullopt};
}

DomainEnergy difference(PowerMeter& meter,
                        const std::optional<Reading>& first,
                        const std::string& first_failure) {
  const Domain& domain = meter.domain();
  if (!first) {
    return unmeasured(domain, domain.reason.empty() ? first_failure : domain.reason);
  }
  const std::optional<Reading> last = meter.read();
  if (!last) {
    return unmeasured(domain, meter.failure());
  }
  if (!is_long_enough(last->time_ns - first->time_ns, domain.update_period_ns)) {
    return unmeasured(domain, "window too short");
  }
  const Joules used = last->energy - first->energy;
  if (used.value < 0) {
    return unmeasured(domain,
                      fmt::format("the counter ran backwards: from {} J to {} J",
                                  first->energy.value,
                                  last->energy.value));
  }
  // A profile may declare 0 W; a counter of a device that is on always moves.
  if (used.value == 0 && domain.kind != Kind::kDeclared) {
    return unmeasured(domain,
                      fmt::format("the counter stood still for {:.1f} s",
                                  seconds(last->time_ns - first->time_ns)));
  }
  return {domain, used};
}

}  // namespace

struct MeterSet::Meters {
  std::vector<std::unique_ptr<PowerMeter>> meters;
  const Clock* clock = nullptr;
};

struct MeterSet::Window::Opened {
  std::shared_ptr<Meters> meters;
  std::int64_t opened_ns = 0;
  std::vector<std::optional<Reading>> first;
  std::vector<std::string> failures;
};

MeterSet::MeterSet(std::vector<std::unique_ptr<PowerMeter>> meters, const Clock& clock)
    : meters_(std::make_shared<Meters>()) {
  meters_->meters = std::move(meters);
  meters_->clock = &clock;
}

std::vector<Domain> MeterSet::domains() const {
  std::vector<Domain> result;
  for (const auto& meter : meters_->meters) {
    result.push_back(meter->domain());
  }
  return result;
}

MeterSet::Window MeterSet::open() {
  auto opened = std::make_shared<Window::Opened>();
  opened->meters = meters_;
  for (const auto& meter : meters_->meters) {
    opened->first.push_back(meter->read());
    opened->failures.push_back(opened->first.back() ? std::string() : meter->failure());
  }
  opened->opened_ns = meters_->clock->now_ns();
  Window window;
  window.opened_ = std::move(opened);
  return window;
}

WindowEnergy MeterSet::Window::close() {
  FROSTLINE_REQUIRE(opened_ != nullptr,
                    ErrorCode::kUsage,
                    "the energy window is not open",
                    "it was closed before or never opened ; open one window for each close");
  const std::shared_ptr<const Opened> opened = std::move(opened_);
  WindowEnergy result;
  result.duration_s = seconds(opened->meters->clock->now_ns() - opened->opened_ns);
  for (std::size_t i = 0; i < opened->first.size(); ++i) {
    result.domains.push_back(
        difference(*opened->meters->meters[i], opened->first[i], opened->failures[i]));
  }
  return result;
}

void MeterSet::set_busy_share(std::string_view domain, double share) {
  FROSTLINE_REQUIRE(share >= 0 && share <= 1,
                    ErrorCode::kUsage,
                    "the busy share is not within 0..1",
                    fmt::format("domain={} share={}", domain, share));
  for (const auto& meter : meters_->meters) {
    if (covers(domain, meter->domain().name)) {
      meter->set_busy_share(share);
    }
  }
}

}  // namespace frostline::power
