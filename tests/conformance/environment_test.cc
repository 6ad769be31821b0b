#include "frostline/sim/environment.h"

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace frostline::test {
namespace {

using sim::Environment;

/// What every environment must do; runs over all built-in tasks, played by their own experts.
class EnvironmentSuite : public testing::TestWithParam<std::string> {
 protected:
  static std::unique_ptr<Environment> make() { return sim::create_environment(GetParam()); }

  static std::vector<std::vector<float>> actions(std::uint64_t seed) {
    return sim::create_expert(GetParam())->plan(seed);
  }
};

TEST_P(EnvironmentSuite, TaskDescribesWhatTheEnvironmentDoes) {
  const sim::TaskInfo& task = sim::task_info(GetParam());
  const auto environment = make();
  EXPECT_EQ(&environment->task(), &task);
  EXPECT_EQ(task.id, GetParam());
  EXPECT_FALSE(task.instruction.empty());
  EXPECT_FALSE(task.cameras.empty());
  EXPECT_GT(task.control_hz, 0);
  EXPECT_GT(task.max_steps, 0);
  EXPECT_GT(task.max_reward_stage, 0);
  ASSERT_EQ(task.start_low_m.size(), task.start_high_m.size());
  for (const auto& action : actions(0)) {
    ASSERT_EQ(static_cast<std::int64_t>(action.size()), task.action_dim);
  }
}

TEST_P(EnvironmentSuite, StartsVaryWithTheSeedWithinTheDeclaredBounds) {
  const sim::TaskInfo& task = sim::task_info(GetParam());
  const auto environment = make();
  environment->reset(0);
  const std::vector<double> first = environment->start_position_m();
  bool varies = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    environment->reset(seed);
    const std::vector<double> start = environment->start_position_m();
    ASSERT_GE(start.size(), task.start_low_m.size());
    for (std::size_t axis = 0; axis < task.start_low_m.size(); ++axis) {
      EXPECT_GE(start[axis], task.start_low_m[axis]) << "seed=" << seed << " axis=" << axis;
      EXPECT_LE(start[axis], task.start_high_m[axis]) << "seed=" << seed << " axis=" << axis;
    }
    varies = varies || start != first;
  }
  EXPECT_TRUE(varies);
}

TEST_P(EnvironmentSuite, SameSeedAndActionsGiveTheSameTrajectoryWhateverRanBefore) {
  const auto played = actions(3);
  const auto fresh = make();
  const auto used = make();
  used->reset(8);
  for (std::size_t i = 0; i < 40; ++i) {
    used->step(played[i]);
  }
  fresh->reset(3);
  used->reset(3);
  for (std::size_t i = 0; i < 60; ++i) {
    fresh->step(played[i]);
    used->step(played[i]);
    ASSERT_EQ(fresh->save(), used->save()) << i;
  }
}

TEST_P(EnvironmentSuite, RestoredSnapshotContinuesBitForBit) {
  const auto played = actions(5);
  const auto original = make();
  original->reset(5);
  // Halfway the object is held in the air, so contacts and the warm start matter.
  const std::size_t half = played.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    original->step(played[i]);
  }
  const sim::Snapshot snapshot = original->save();
  const auto copy = make();
  copy->restore(snapshot);
  EXPECT_EQ(copy->save(), snapshot);
  EXPECT_EQ(copy->start_position_m(), original->start_position_m());
  for (std::size_t i = half; i < played.size(); ++i) {
    const sim::StepResult a = original->step(played[i]);
    const sim::StepResult b = copy->step(played[i]);
    ASSERT_EQ(a.reward_stage, b.reward_stage) << i;
    ASSERT_EQ(a.is_success, b.is_success) << i;
    ASSERT_EQ(original->save(), copy->save()) << i;
  }
  EXPECT_TRUE(copy->step(played.back()).is_success) << "the expert solves its task";
}

TEST_P(EnvironmentSuite, StepRefusesWhatIsNoAction) {
  const auto environment = make();
  environment->reset(0);
  const sim::Snapshot before = environment->save();
  const auto dim = static_cast<std::size_t>(environment->task().action_dim);
  const std::vector<float> narrow(dim - 1);
  expect_error([&] { environment->step(narrow); }, ErrorCode::kUsage);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> action(dim);
    action[dim - 1] = bad;
    expect_error([&] { environment->step(action); },
                 ErrorCode::kNumeric,
                 {"dimension=" + std::to_string(dim - 1)});
  }
  EXPECT_EQ(environment->save(), before) << "a refused action changes nothing";
}

TEST_P(EnvironmentSuite, RestoreRefusesAForeignSnapshot) {
  const auto environment = make();
  expect_error([&] { environment->restore(sim::Snapshot(3)); }, ErrorCode::kUsage);
}

INSTANTIATE_TEST_SUITE_P(All, EnvironmentSuite, testing::ValuesIn(sim::task_ids()));

}  // namespace
}  // namespace frostline::test
