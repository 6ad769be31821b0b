#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/power/meter.h"
#include "frostline/power/meter_json.h"
#include "frostline/power/unmeasured_meter.h"
#include "tests/power/scripted_meter.h"

namespace frostline::power {
namespace {

using test::ScriptedMeter;
using ::testing::HasSubstr;
using Script = std::deque<std::optional<double>>;

constexpr std::int64_t kSecond = 1'000'000'000;

Domain domain(std::string name,
              Kind kind = Kind::kMeasured,
              std::int64_t period_ns = kSecond / 10) {
  return {std::move(name), "scope", period_ns, kind, {}};
}

class WindowTest : public ::testing::Test {
 protected:
  void add(Domain metered, Script joules) {
    meters_.push_back(
        std::make_unique<ScriptedMeter>(std::move(metered), clock_, std::move(joules)));
  }

  WindowEnergy measure(std::int64_t duration_ns) {
    MeterSet set(std::move(meters_), clock_);
    MeterSet::Window window = set.open();
    clock_.advance_ns(duration_ns);
    return window.close();
  }

  ManualClock clock_;
  std::vector<std::unique_ptr<PowerMeter>> meters_;
};

TEST_F(WindowTest, SubtractsTwoReadings) {
  add(domain("gpu:0"), {100.0, 640.0});
  const WindowEnergy energy = measure(6 * kSecond);
  EXPECT_DOUBLE_EQ(energy.duration_s, 6);
  ASSERT_TRUE(energy.domains[0].energy);
  EXPECT_DOUBLE_EQ(energy.domains[0].energy->value, 540);
  EXPECT_EQ(energy.total().kind, Kind::kMeasured);
  EXPECT_DOUBLE_EQ(energy.total().energy->value, 540);
  EXPECT_EQ(energy.total().reason, "");
}

TEST_F(WindowTest, RefusesFewerThanFiftyUpdatesAndFiveSeconds) {
  add(domain("gpu:0"), {0.0, 10.0});
  const WindowEnergy energy = measure(5 * kSecond - 1);
  EXPECT_FALSE(energy.domains[0].energy);
  EXPECT_EQ(energy.domains[0].domain.kind, Kind::kUnmeasured);
  EXPECT_EQ(energy.domains[0].domain.reason, "window too short");
  EXPECT_FALSE(energy.total().energy);
  EXPECT_EQ(energy.total().reason, "window too short");
}

TEST_F(WindowTest, AcceptsFiftyUpdatesOfAFastCounterBelowFiveSeconds) {
  add(domain("cpu:package-0", Kind::kMeasured, 1'000'000), {0.0, 2.5});
  EXPECT_DOUBLE_EQ(measure(50'000'000).total().energy->value, 2.5);
}

TEST_F(WindowTest, RefusesAShortWindowOfAFastCounter) {
  add(domain("cpu:package-0", Kind::kMeasured, 1'000'000), {0.0, 2.5});
  EXPECT_FALSE(measure(49'999'999).total().energy);
}

TEST_F(WindowTest, AcceptsFiveSecondsOfASlowCounter) {
  add(domain("npu:0", Kind::kMeasured, kSecond), {0.0, 2.5});
  EXPECT_TRUE(measure(5 * kSecond).total().energy);
}

TEST_F(WindowTest, CounterThatStandsStillIsUnmeasuredNotZero) {
  add(domain("gpu:0"), {7.0, 7.0});
  const WindowEnergy energy = measure(10 * kSecond);
  EXPECT_FALSE(energy.domains[0].energy);
  EXPECT_THAT(energy.total().reason, HasSubstr("stood still for 10.0 s"));
}

TEST_F(WindowTest, CounterThatRunsBackwardsIsUnmeasured) {
  add(domain("gpu:0"), {7.0, 3.0});
  EXPECT_THAT(measure(10 * kSecond).total().reason, HasSubstr("ran backwards"));
}

TEST_F(WindowTest, CounterLostMidwayIsUnmeasuredWithItsReason) {
  add(domain("gpu:0"), {7.0, std::nullopt});
  EXPECT_EQ(measure(10 * kSecond).domains[0].domain.reason, "scripted failure");
}

TEST_F(WindowTest, CounterThatComesBackMidwayStaysUnmeasured) {
  add(domain("gpu:0"), {std::nullopt, 9.0});
  const WindowEnergy energy = measure(10 * kSecond);
  EXPECT_FALSE(energy.domains[0].energy);
  EXPECT_NE(energy.domains[0].domain.reason, "");
}

TEST_F(WindowTest, OneUnmeasuredDomainMakesTheTotalUnmeasured) {
  add(domain("gpu:0"), {0.0, 500.0});
  meters_.push_back(std::make_unique<UnmeasuredMeter>("npu:0", "NPU board", "no driver"));
  const WindowEnergy energy = measure(10 * kSecond);
  EXPECT_FALSE(energy.total().energy);
  EXPECT_EQ(energy.total().reason, "npu:0: no driver");
  EXPECT_DOUBLE_EQ(energy.total(std::vector<std::string>{"gpu:0"}).energy->value, 500);
}

TEST_F(WindowTest, DeclaredPartLabelsTheTotalDeclared) {
  add(domain("gpu:0"), {0.0, 500.0});
  add(domain("npu:0", Kind::kDeclared, 0), {0.0, 50.0});
  const WindowEnergy::Total total = measure(10 * kSecond).total();
  EXPECT_DOUBLE_EQ(total.energy->value, 550);
  EXPECT_EQ(total.kind, Kind::kDeclared);
  EXPECT_EQ(total.reason, "npu:0 is declared");
}

TEST_F(WindowTest, RequiredDomainWithoutAMeterMakesTheTotalUnmeasured) {
  add(domain("gpu:0"), {0.0, 500.0});
  const WindowEnergy::Total total =
      measure(10 * kSecond).total(std::vector<std::string>{"gpu:0", "npu:0"});
  EXPECT_FALSE(total.energy);
  EXPECT_EQ(total.reason, "npu:0: no energy meter");
}

TEST_F(WindowTest, RequiredNameCoversEveryPackageOnce) {
  add(domain("cpu:package-0"), {0.0, 10.0});
  add(domain("cpu:package-1"), {0.0, 20.0});
  add(domain("gpu:0"), {0.0, 500.0});
  const WindowEnergy energy = measure(10 * kSecond);
  EXPECT_DOUBLE_EQ(energy.total(std::vector<std::string>{"cpu", "cpu:package"}).energy->value, 30);
}

TEST_F(WindowTest, NoMeterAtAllIsUnmeasured) {
  const WindowEnergy::Total total = measure(10 * kSecond).total();
  EXPECT_FALSE(total.energy);
  EXPECT_EQ(total.reason, "no energy meter");
}

TEST_F(WindowTest, ClosingTwiceIsAUsageError) {
  MeterSet set({}, clock_);
  MeterSet::Window window = set.open();
  window.close();
  try {
    window.close();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUsage);
    EXPECT_THAT(e.what(), HasSubstr("not open"));
  }
}

TEST_F(WindowTest, WindowOutlivesTheMovedSet) {
  add(domain("gpu:0"), {0.0, 10.0});
  MeterSet::Window window;
  {
    MeterSet first(std::move(meters_), clock_);
    window = first.open();
    const MeterSet second = std::move(first);
  }
  clock_.advance_ns(6 * kSecond);
  EXPECT_DOUBLE_EQ(window.close().total().energy->value, 10);
}

TEST_F(WindowTest, JsonWritesNullForUnmeasured) {
  add(domain("gpu:0"), {0.0, 500.0});
  meters_.push_back(std::make_unique<UnmeasuredMeter>("npu:0", "NPU board", "no driver"));
  const Json json = to_json(measure(10 * kSecond));
  EXPECT_EQ(json["domains"][0]["joules_j"], 500.0);
  EXPECT_TRUE(json["domains"][0]["reason"].is_null());
  EXPECT_TRUE(json["domains"][1]["joules_j"].is_null());
  EXPECT_EQ(json["domains"][1]["reason"], "no driver");
  EXPECT_TRUE(json["total"]["value"].is_null());
  EXPECT_EQ(json["total"]["kind"], "unmeasured");
}

TEST(Covers, NeedsTheWholeNameOrASeparator) {
  EXPECT_TRUE(covers("gpu:1", "gpu:1"));
  EXPECT_FALSE(covers("gpu:1", "gpu:10"));
  EXPECT_TRUE(covers("cpu", "cpu:package-0"));
  EXPECT_FALSE(covers("cpu:package-0", "cpu:package"));
}

}  // namespace
}  // namespace frostline::power
