#pragma once

#include <utility>

#include "frostline/power/meter.h"

namespace frostline::power {

/// Stands for a device whose energy cannot be read, and says why. Immutable.
class UnmeasuredMeter final : public PowerMeter {
 public:
  UnmeasuredMeter(std::string name, std::string scope, std::string reason)
      : domain_{std::move(name), std::move(scope), 0, Kind::kUnmeasured, std::move(reason)} {}

  const Domain& domain() const override { return domain_; }

  std::optional<Reading> read() override { return std::nullopt; }

  std::string failure() const override { return domain_.reason; }

 private:
  Domain domain_;
};

}  // namespace frostline::power
