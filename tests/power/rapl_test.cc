#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/power/rapl/rapl_meter.h"
#include "tests/power/fake_powercap.h"

namespace frostline::power {
namespace {

using test::FakePowercap;
using ::testing::HasSubstr;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kRangeUj = 262'143'328'850;

class RaplTest : public ::testing::Test {
 protected:
  std::vector<std::unique_ptr<PowerMeter>> find() { return find_rapl_meters(options_); }

  FakePowercap tree_;
  ManualClock clock_;
  RaplOptions options_{tree_.path(), &clock_, {}, false};
};

TEST_F(RaplTest, NoTreeGivesNoMeters) {
  options_.folder = tree_.path() / "absent";
  EXPECT_TRUE(find().empty());
}

TEST_F(RaplTest, ListsPackagesAndMemoryButNothingTwice) {
  tree_.add_zone("intel-rapl:0", "package-0", kRangeUj, 1);
  tree_.add_zone("intel-rapl:0:0", "core", kRangeUj, 1);
  tree_.add_zone("intel-rapl:0:1", "dram", kRangeUj, 1);
  tree_.add_zone("intel-rapl:1", "psys", kRangeUj, 1);
  tree_.add_zone("intel-rapl-mmio:0", "package-0", kRangeUj, 1);
  const auto meters = find();
  ASSERT_EQ(meters.size(), 2U);
  EXPECT_EQ(meters[0]->domain().name, "cpu:package-0");
  EXPECT_EQ(meters[1]->domain().name, "cpu:dram-0");
  EXPECT_EQ(meters[0]->domain().kind, Kind::kMeasured);
}

TEST_F(RaplTest, WrapsAtTheRange) {
  tree_.add_zone("intel-rapl:0", "package-0", kRangeUj, kRangeUj - 2'000'000);
  const auto meters = find();
  ASSERT_TRUE(meters[0]->read());
  clock_.advance_ns(kSecond);
  tree_.set("intel-rapl:0", 3'000'000);
  const auto reading = meters[0]->read();
  ASSERT_TRUE(reading);
  EXPECT_DOUBLE_EQ(reading->energy.value, 5);
}

TEST_F(RaplTest, CounterThatIsResetRanBackwards) {
  tree_.add_zone("intel-rapl:0", "package-0", kRangeUj, 9'000'000);
  const auto meters = find();
  ASSERT_TRUE(meters[0]->read());
  clock_.advance_ns(kSecond);
  tree_.set("intel-rapl:0", 1);
  EXPECT_FALSE(meters[0]->read());
  EXPECT_THAT(meters[0]->failure(), HasSubstr("ran backwards: from 9000000 to 1 uJ"));
  tree_.set("intel-rapl:0", 10'000'000);
  EXPECT_FALSE(meters[0]->read()) << "joules are missing from the sum for good";
}

TEST_F(RaplTest, GapInWhichItMayHaveWrappedTwiceIsRefused) {
  tree_.add_zone("intel-rapl:0", "package-0", kRangeUj, 1);
  const auto meters = find();
  ASSERT_TRUE(meters[0]->read());
  clock_.advance_ns(200 * kSecond);
  tree_.set("intel-rapl:0", 100);
  EXPECT_FALSE(meters[0]->read());
  EXPECT_THAT(meters[0]->failure(), HasSubstr("not read for 200 s"));
}

TEST_F(RaplTest, PermissionDeniedGivesReasonAndRemedy) {
  tree_.add_zone("intel-rapl:0", "package-0", kRangeUj, 1);
  options_.read_counter = [](const auto&, std::string&) { return EACCES; };
  const auto meters = find();
  ASSERT_EQ(meters.size(), 1U);
  EXPECT_EQ(meters[0]->domain().kind, Kind::kUnmeasured);
  EXPECT_THAT(meters[0]->domain().reason, HasSubstr("permission denied: "));
  EXPECT_THAT(meters[0]->domain().reason, HasSubstr("sudo chmod a+r "));
  EXPECT_FALSE(meters[0]->read());
}

TEST_F(RaplTest, PermissionLostMidwayFailsAndStaysFailed) {
  tree_.add_zone("intel-rapl:0", "package-0", kRangeUj, 1);
  int error = 0;
  options_.read_counter = [&error](const auto&, std::string& text) {
    text = "5000000\n";
    return error;
  };
  const auto meters = find();
  ASSERT_TRUE(meters[0]->read());
  error = EACCES;
  EXPECT_FALSE(meters[0]->read());
  error = 0;
  EXPECT_FALSE(meters[0]->read());
  EXPECT_THAT(meters[0]->failure(), HasSubstr("permission denied"));
}

TEST_F(RaplTest, MalformedFilesAreUnmeasured) {
  tree_.add_zone("intel-rapl:0", "package-0", kRangeUj, 1);
  FakePowercap::write(tree_.path() / "intel-rapl:0/energy_uj", "many");
  EXPECT_THAT(find()[0]->domain().reason, HasSubstr("holds no count"));
  FakePowercap::write(tree_.path() / "intel-rapl:0/max_energy_range_uj", "");
  EXPECT_THAT(find()[0]->domain().reason, HasSubstr("where the counter wraps"));
}

TEST_F(RaplTest, CountBeyondTheRangeIsRefused) {
  tree_.add_zone("intel-rapl:0", "package-0", 1000, 1);
  const auto meters = find();
  tree_.set("intel-rapl:0", 1001);
  EXPECT_FALSE(meters[0]->read());
  EXPECT_THAT(meters[0]->failure(), HasSubstr("not a count up to 1000"));
}

TEST_F(RaplTest, KeeperStopsWithTheMeter) {
  tree_.add_zone("intel-rapl:0", "package-0", kRangeUj, 1);
  options_.has_keeper = true;
  const auto meters = find();
  EXPECT_TRUE(meters[0]->read());
}

}  // namespace
}  // namespace frostline::power
