#include "frostline/sim/tasks/transfer_cube.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"

namespace frostline::sim {
namespace {

using testing::HasSubstr;

constexpr const char* kTask = "aloha_transfer_cube";

template <class Work>
Error error_of(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error("no error was thrown");
}

TEST(TransferCube, ResetDrawsTheCubesPlaceAsNumpyDoes) {
  // Printed by numpy: RandomState(seed).uniform(0, .2) and .uniform(.4, .6).
  const auto environment = create_environment(kTask);
  environment->reset(0);
  EXPECT_NEAR(environment->start_position_m()[0], 0.109762700785, 1e-12);
  EXPECT_NEAR(environment->start_position_m()[1], 0.543037873274, 1e-12);
  environment->reset(1000);
  EXPECT_NEAR(environment->start_position_m()[0], 0.130717917093, 1e-12);
  EXPECT_NEAR(environment->start_position_m()[1], 0.423001388625, 1e-12);
  EXPECT_EQ(environment->start_position_m()[2], 0.05);
}

TEST(TransferCube, ResetRefusesASeedThatNumpyRefuses) {
  const auto environment = create_environment(kTask);
  const Error error = error_of([&] { environment->reset(std::uint64_t{1} << 32); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_THAT(error.what(), HasSubstr("seed=4294967296"));
}

TEST(TransferCube, ResetGivesTheStartPoseWithNormalisedGrippers) {
  const auto environment = create_environment(kTask);
  std::vector<float> state(14);
  environment->observe(state);
  const float gripper = static_cast<float>((0.02239 - 0.01844) / 0.03956);
  const std::vector<float> arm = {0, -0.96F, 1.16F, 0, -0.3F, 0, gripper};
  for (std::size_t i = 0; i < state.size(); ++i) {
    EXPECT_FLOAT_EQ(state[i], arm[i % 7]) << i;
  }
}

TEST(TransferCube, SceneHasTheSizesOfTheTask) {
  const auto model = transfer_cube_model();
  EXPECT_EQ(model->nq, 23);
  EXPECT_EQ(model->nu, 16);
  EXPECT_EQ(model->opt.timestep, 0.002);
  EXPECT_EQ(model.get(), transfer_cube_model().get()) << "the model is compiled once";
}

TEST(TransferCubeStage, LaterRulesOverrideEarlierOnes) {
  const auto stage = [](bool right, bool left, bool table) {
    return transfer_cube_stage({right, left, table});
  };
  EXPECT_EQ(stage(false, false, false), 0);
  EXPECT_EQ(stage(false, false, true), 0);
  EXPECT_EQ(stage(true, false, true), 1);
  EXPECT_EQ(stage(true, false, false), 2);
  EXPECT_EQ(stage(false, true, true), 3);
  EXPECT_EQ(stage(true, true, true), 3);
  EXPECT_EQ(stage(false, true, false), 4);
  EXPECT_EQ(stage(true, true, false), 4);
}

TEST(TransferCube, StepDoesNotClipActionsToTheDeclaredBox) {
  const auto reach = [](float target_rad) {
    const auto environment = create_environment(kTask);
    std::vector<float> action(14);
    environment->observe(action);
    action[0] = target_rad;
    for (int i = 0; i < 100; ++i) {
      environment->step(action);
    }
    std::vector<float> state(14);
    environment->observe(state);
    return state[0];
  };
  EXPECT_NEAR(reach(1.5F), 1.5F, 0.02F);
}

TEST(TransferCube, StepReportsADivergedSimulationAsAPhysicsFault) {
  const auto environment = create_environment(kTask);
  const std::vector<float> action(14);
  auto& simulated = dynamic_cast<MujocoEnvironment&>(*environment);
  simulated.scene_data().qvel[0] = std::numeric_limits<double>::quiet_NaN();
  const StepResult result = environment->step(action);
  EXPECT_EQ(result.fault, Fault::kPhysics);
  EXPECT_FALSE(result.is_success);

  environment->reset(0);
  EXPECT_EQ(environment->step(action).fault, Fault::kNone) << "a reset clears the fault";
}

TEST(TransferCube, ExpertPassesTheStagesInOrderAndSucceedsWhenMeasured) {
  const auto environment = create_environment(kTask);
  const auto expert = create_expert(kTask);
  for (const std::uint64_t seed : {0U, 1U}) {
    environment->reset(seed);
    std::vector<int> first(5, -1);
    int step = 0;
    for (const auto& action : expert->plan(seed)) {
      const int stage = environment->step(action).reward_stage;
      for (int reached = 1; reached <= stage; ++reached) {
        if (first[static_cast<std::size_t>(reached)] < 0) {
          first[static_cast<std::size_t>(reached)] = step;
        }
      }
      ++step;
    }
    EXPECT_EQ(step, 400);
    EXPECT_LT(0, first[1]);
    // The grasp itself can lift the cube off the table: stages 1 and 2 may come together.
    EXPECT_LE(first[1], first[2]);
    EXPECT_LT(first[2], first[3]);
    EXPECT_LE(first[3], first[4]);
    EXPECT_GE(first[4], 289);
    EXPECT_LE(first[4], 291);
  }
}

TEST(Tasks, UnknownTaskIsRefusedWithTheKnownOnes) {
  const Error error = error_of([] { create_environment("aloha_transfer_cub"); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_THAT(error.what(), HasSubstr(kTask));
}

TEST(Assets, MissingFolderIsNamedWithTheRemedy) {
  ASSERT_EQ(setenv("FROSTLINE_ASSETS", "/nonexistent/assets", 1), 0);
  const Error error = error_of([] { assets_folder(); });
  unsetenv("FROSTLINE_ASSETS");
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr("/nonexistent/assets"));
  EXPECT_THAT(error.what(), HasSubstr("scripts/setup.sh"));
}

TEST(Assets, UnloadableSceneIsNamedWithMujocosReason) {
  const Error error = error_of([] { load_model("no_such_scene.xml"); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_THAT(error.what(), HasSubstr("no_such_scene.xml"));
}

}  // namespace
}  // namespace frostline::sim
