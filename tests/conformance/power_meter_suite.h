#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "frostline/power/meter.h"

namespace frostline::test {

/// One implementation under the suite: a world in which its device runs, and the meter.
class PowerMeterWorld {
 public:
  PowerMeterWorld() = default;
  PowerMeterWorld(const PowerMeterWorld&) = delete;
  PowerMeterWorld& operator=(const PowerMeterWorld&) = delete;
  PowerMeterWorld(PowerMeterWorld&&) = delete;
  PowerMeterWorld& operator=(PowerMeterWorld&&) = delete;
  virtual ~PowerMeterWorld() = default;

  virtual power::PowerMeter& meter() = 0;
  /// Lets one second pass in which the device uses `joules`.
  virtual void run_for_a_second(int joules) = 0;
  /// Takes the counter away; false when the kind of meter cannot lose it.
  virtual bool lose() = 0;

  ManualClock clock;
};

struct PowerMeterCase {
  std::string name;
  std::function<std::unique_ptr<PowerMeterWorld>()> make;
};

inline std::ostream& operator<<(std::ostream& out, const PowerMeterCase& tested) {
  return out << tested.name;
}

/// What holds for every implementation of `PowerMeter`.
class PowerMeterSuite : public ::testing::TestWithParam<PowerMeterCase> {
 protected:
  void SetUp() override { world_ = GetParam().make(); }

  power::PowerMeter& meter() { return world_->meter(); }

  bool is_readable() { return meter().domain().kind != power::Kind::kUnmeasured; }

  std::unique_ptr<PowerMeterWorld> world_;
};

TEST_P(PowerMeterSuite, DomainIsNamedAndExplained) {
  const power::Domain& domain = meter().domain();
  EXPECT_FALSE(domain.name.empty());
  EXPECT_FALSE(domain.scope.empty());
  EXPECT_EQ(domain.reason.empty(), is_readable());
  EXPECT_GE(domain.update_period_ns, 0);
  if (domain.kind == power::Kind::kMeasured) {
    EXPECT_GT(domain.update_period_ns, 0);
  }
}

TEST_P(PowerMeterSuite, ReadsTheEnergyUsed) {
  const auto first = meter().read();
  ASSERT_EQ(first.has_value(), is_readable());
  world_->run_for_a_second(50);
  const auto second = meter().read();
  ASSERT_EQ(second.has_value(), is_readable());
  if (second) {
    EXPECT_NEAR((second->energy - first->energy).value, 50, 1e-3);
    EXPECT_EQ(second->time_ns - first->time_ns, 1'000'000'000);
  }
}

TEST_P(PowerMeterSuite, NeverDecreases) {
  double last = 0;
  for (int i = 0; i < 20; ++i) {
    world_->run_for_a_second(50);
    if (const auto reading = meter().read()) {
      EXPECT_GE(reading->energy.value, last);
      last = reading->energy.value;
    }
  }
}

TEST_P(PowerMeterSuite, LostCounterSaysWhy) {
  meter().read();
  if (is_readable() && !world_->lose()) {
    EXPECT_TRUE(meter().read());
    EXPECT_EQ(meter().failure(), "");
    return;
  }
  EXPECT_FALSE(meter().read());
  EXPECT_NE(meter().failure(), "");
}

TEST_P(PowerMeterSuite, MayBeReadByManyThreads) {
  std::vector<std::jthread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([this] {
      for (int j = 0; j < 50; ++j) {
        EXPECT_EQ(meter().read().has_value(), is_readable());
      }
    });
  }
}

}  // namespace frostline::test
