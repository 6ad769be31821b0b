#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/power/declared/declared_meter.h"
#include "frostline/power/meter.h"
#include "frostline/power/meter_json.h"
#include "tests/power/fake_powercap.h"

namespace frostline::power {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kSecond = 1'000'000'000;

class FindMetersTest : public ::testing::Test {
 protected:
  FindMetersTest() {
    options_.nvml_library = "libabsent-nvml.so";
    options_.device_folder = "/nonexistent";
    options_.powercap_folder = tree_.path().string();
    options_.clock = &clock_;
  }

  void declare(const std::string& toml) {
    options_.declared_profile = (folder_.path() / "profile.toml").string();
    std::ofstream(options_.declared_profile, std::ios::trunc) << toml;
  }

  std::string config_error() {
    try {
      find_meters(options_);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kConfig);
      return e.what();
    }
    return "no error";
  }

  test::FakePowercap tree_;
  test::TempFolder folder_;
  ManualClock clock_;
  MeterOptions options_;
};

TEST_F(FindMetersTest, WithoutAnyMeterListsAnUnmeasuredPackage) {
  const auto domains = find_meters(options_).domains();
  ASSERT_EQ(domains.size(), 1U);
  EXPECT_EQ(domains[0].name, "cpu:package");
  EXPECT_EQ(domains[0].kind, Kind::kUnmeasured);
  EXPECT_THAT(domains[0].reason, HasSubstr("no processor energy counter"));
}

TEST_F(FindMetersTest, DeclaredDomainStandsInForAnUnmeasuredOne) {
  declare(
      "source = \"data sheet\"\n[[domain]]\nname = \"cpu:package\"\nscope = \"CPU\"\n"
      "idle_w = 10\nbusy_w = 50.0\n");
  MeterSet meters = find_meters(options_);
  ASSERT_EQ(meters.domains().size(), 1U);
  EXPECT_EQ(meters.domains()[0].kind, Kind::kDeclared);
  EXPECT_EQ(meters.domains()[0].scope, "CPU, 10 W idle and 50 W busy declared by data sheet");

  MeterSet::Window window = meters.open();
  clock_.advance_ns(6 * kSecond);
  EXPECT_DOUBLE_EQ(window.close().total().energy->value, 300);

  window = meters.open();
  meters.set_busy_share("cpu", 0.25);
  clock_.advance_ns(10 * kSecond);
  const WindowEnergy::Total total = window.close().total();
  EXPECT_DOUBLE_EQ(total.energy->value, 200);
  EXPECT_EQ(total.kind, Kind::kDeclared);
}

TEST_F(FindMetersTest, DeclaredDomainNeverReplacesACounter) {
  tree_.add_zone("intel-rapl:0", "package-0", 1'000'000'000, 1);
  declare("[[domain]]\nname = \"cpu:package\"\nidle_w = 1\nbusy_w = 2\n");
  const auto domains = find_meters(options_).domains();
  ASSERT_EQ(domains.size(), 1U);
  EXPECT_EQ(domains[0].name, "cpu:package-0");
  EXPECT_EQ(domains[0].kind, Kind::kMeasured);
}

TEST_F(FindMetersTest, DeclaredDomainIsAddedWhereThereIsNone) {
  declare("[[domain]]\nname = \"npu:0\"\nidle_w = 1\nbusy_w = 2\n");
  EXPECT_EQ(find_meters(options_).domains().size(), 2U);
}

TEST_F(FindMetersTest, ShortWindowOfADeclaredDomainIsRefusedToo) {
  declare("[[domain]]\nname = \"cpu:package\"\nidle_w = 1\nbusy_w = 2\n");
  MeterSet meters = find_meters(options_);
  MeterSet::Window window = meters.open();
  clock_.advance_ns(kSecond);
  EXPECT_EQ(window.close().total().reason, "window too short");
}

TEST_F(FindMetersTest, ProfileErrorsNameTheKeyAndTheLine) {
  declare("[[domain]]\nname = \"npu:0\"\nidel_w = 1\nbusy_w = 2\n");
  EXPECT_THAT(config_error(), HasSubstr("profile.toml:3 ; is 'idel_w' a misspelling of it?"));
  declare("[[domain]]\nname = \"npu:0\"\nidle_w = 1\nbusy_w = 2\nscop = \"x\"\n");
  EXPECT_THAT(config_error(), HasSubstr("profile.toml:5 ; did you mean 'scope'?"));
  declare("[[domain]]\nname = \"npu:0\"\nidle_w = -1\nbusy_w = 2\n");
  EXPECT_THAT(config_error(), HasSubstr("watts must be finite and not negative: -1"));
  declare("[[domain]]\nname = \"npu:0\"\nidle_w = 3\nbusy_w = 2\n");
  EXPECT_THAT(config_error(), HasSubstr("busy watts are below idle watts: 2 < 3"));
  declare("source = \"x\"\n");
  EXPECT_THAT(config_error(), HasSubstr("declares no domain"));
  declare(
      "[[domain]]\nname = \"a\"\nidle_w = 1\nbusy_w = 2\n[[domain]]\nname = \"a\"\nidle_w = "
      "1\nbusy_w = 2\n");
  EXPECT_THAT(config_error(), HasSubstr("one name of its own: 'a'"));
}

TEST_F(FindMetersTest, BusyShareOutsideItsRangeIsAUsageError) {
  MeterSet meters = find_meters(options_);
  EXPECT_THROW(meters.set_busy_share("cpu", 1.5), Error);
}

TEST_F(FindMetersTest, DoctorListsDomainKindAndReason) {
  tree_.add_zone("intel-rapl:0", "package-0", 1'000'000'000, 1);
  tree_.add_zone("intel-rapl:1", "package-1", 0, 1);
  const Json list = meters_to_json(find_meters(options_).domains());
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["domain"], "cpu:package-0");
  EXPECT_EQ(list[0]["kind"], "measured");
  EXPECT_TRUE(list[0]["reason"].is_null());
  EXPECT_EQ(list[1]["kind"], "unmeasured");
  EXPECT_TRUE(list[1]["reason"].is_string());
}

}  // namespace
}  // namespace frostline::power
