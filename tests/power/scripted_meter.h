#pragma once

#include <deque>
#include <string>
#include <utility>

#include "frostline/power/meter.h"

namespace frostline::test {

/// A meter that answers what a test scripted, one entry a read; the last entry stays. One thread.
class ScriptedMeter final : public power::PowerMeter {
 public:
  ScriptedMeter(power::Domain domain, const Clock& clock, std::deque<std::optional<double>> joules)
      : domain_(std::move(domain)), clock_(clock), joules_(std::move(joules)) {}

  const power::Domain& domain() const override { return domain_; }

  std::optional<power::Reading> read() override {
    const std::optional<double> now = joules_.front();
    if (joules_.size() > 1) {
      joules_.pop_front();
    }
    if (!now) {
      return std::nullopt;
    }
    return power::Reading{clock_.now_ns(), Joules(*now)};
  }

  std::string failure() const override { return joules_.front() ? "" : "scripted failure"; }

 private:
  power::Domain domain_;
  const Clock& clock_;
  std::deque<std::optional<double>> joules_;
};

}  // namespace frostline::test
