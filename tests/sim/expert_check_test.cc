#include "frostline/sim/expert_check.h"

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/sim/tasks/transfer_cube_expert.h"

namespace frostline::sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kTask = "aloha_transfer_cube";

TEST(ExpertCheck, PassesWithTheSimulatorInUse) {
  EXPECT_NO_THROW(check_expert(kTask));
}

TEST(ExpertCheck, FailsLoudlyWhenTheWeldsAreAsSoftAsMujoco3MakesThem) {
  const auto environment = create_environment(kTask);
  const auto soft = create_transfer_cube_expert({.weld_torque_scale = 1.0});
  constexpr std::array<std::uint64_t, 2> kSeeds = {0, 1};
  try {
    check_expert(*environment, *soft, kSeeds);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(
        error.what(),
        AllOf(HasSubstr("seed 0"), HasSubstr("torquescale"), HasSubstr("scripts/setup.sh")));
  }
}

TEST(ExpertCheck, DisturbedExpertStillSucceeds) {
  const auto environment = create_environment(kTask);
  const auto noisy = create_expert(kTask, {.noise_m = 0.01});
  const auto plain = create_expert(kTask);
  EXPECT_NE(noisy->plan(0), plain->plan(0));
  EXPECT_TRUE(try_expert(*environment, *noisy, 0).is_good());
}

}  // namespace
}  // namespace frostline::sim
