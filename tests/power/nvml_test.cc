#include <dlfcn.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/power/nvml/nvml_meter.h"
#include "tests/power/fake_nvml.h"
#include "tests/support/temp_folder.h"

namespace frostline::power {
namespace {

using ::testing::HasSubstr;

class NvmlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = ::dlopen(FROSTLINE_FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << ::dlerror();
    const auto get = reinterpret_cast<FakeNvmlState* (*)()>(::dlsym(library_, "fake_nvml_state"));
    ASSERT_NE(get, nullptr);
    state_ = get();
    *state_ = FakeNvmlState{};
  }

  void TearDown() override {
    EXPECT_EQ(state_->live_initialisations, 0);
    ::dlclose(library_);
  }

  void* library_ = nullptr;
  FakeNvmlState* state_ = nullptr;
  ManualClock clock_;
  NvmlOptions options_{FROSTLINE_FAKE_NVML, "/nonexistent", &clock_};
};

TEST_F(NvmlTest, ReadsMillijoulesOfEveryBoard) {
  state_->count = 2;
  state_->energy_mj[1] = 1500;
  const auto meters = find_nvml_meters(options_);
  ASSERT_EQ(meters.size(), 2U);
  EXPECT_EQ(meters[1]->domain().name, "gpu:1");
  EXPECT_EQ(meters[1]->domain().scope, "GPU board Fake Board (GPU-fake-1)");
  EXPECT_EQ(meters[1]->domain().kind, Kind::kMeasured);
  EXPECT_DOUBLE_EQ(meters[1]->read()->energy.value, 1.5);
}

TEST_F(NvmlTest, BoardWithoutPermissionIsUnmeasured) {
  state_->count = 2;
  state_->energy_code[0] = 4;
  state_->energy_code[1] = 3;
  const auto meters = find_nvml_meters(options_);
  EXPECT_EQ(meters[0]->domain().kind, Kind::kUnmeasured);
  EXPECT_THAT(meters[0]->domain().reason, HasSubstr("Insufficient Permissions (NVML code 4)"));
  EXPECT_THAT(meters[1]->domain().reason, HasSubstr("Volta"));
}

TEST_F(NvmlTest, BoardLostMidwayFailsAndStaysFailed) {
  const auto meters = find_nvml_meters(options_);
  ASSERT_TRUE(meters[0]->read());
  state_->energy_code[0] = 15;
  EXPECT_FALSE(meters[0]->read());
  state_->energy_code[0] = 0;
  EXPECT_FALSE(meters[0]->read());
  EXPECT_THAT(meters[0]->failure(), HasSubstr("NVML code 15"));
}

TEST_F(NvmlTest, CounterThatRunsBackwardsFails) {
  state_->energy_mj[0] = 100;
  const auto meters = find_nvml_meters(options_);
  ASSERT_TRUE(meters[0]->read());
  state_->energy_mj[0] = 99;
  EXPECT_FALSE(meters[0]->read());
  EXPECT_THAT(meters[0]->failure(), HasSubstr("ran backwards: from 100 to 99 mJ"));
}

TEST_F(NvmlTest, LibraryThatDoesNotStartIsListed) {
  state_->init_code = 9;
  const auto meters = find_nvml_meters(options_);
  ASSERT_EQ(meters.size(), 1U);
  EXPECT_THAT(meters[0]->domain().reason, HasSubstr("NVML does not start"));
}

TEST_F(NvmlTest, NoLibraryAndNoDeviceGivesNoMeter) {
  options_.library = "libabsent-nvml.so";
  EXPECT_TRUE(find_nvml_meters(options_).empty());
}

TEST_F(NvmlTest, DeviceWithoutLibraryIsListedAsUnmeasured) {
  const test::TempFolder folder;
  std::filesystem::create_directory(folder.path() / "nvidia0");
  options_.library = "libabsent-nvml.so";
  options_.device_folder = folder.path().string();
  const auto meters = find_nvml_meters(options_);
  ASSERT_EQ(meters.size(), 1U);
  EXPECT_EQ(meters[0]->domain().name, "gpu:0");
  EXPECT_THAT(meters[0]->domain().reason, HasSubstr("cannot open libabsent-nvml.so"));
}

TEST_F(NvmlTest, LibraryWithoutTheCounterNamesTheMissingFunction) {
  options_.library = FROSTLINE_EMPTY_NVML;
  const auto meters = find_nvml_meters(options_);
  ASSERT_EQ(meters.size(), 1U);
  EXPECT_THAT(meters[0]->domain().reason, HasSubstr("lacks nvmlInit_v2"));
}

}  // namespace
}  // namespace frostline::power
