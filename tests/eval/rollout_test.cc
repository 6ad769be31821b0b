#include "frostline/eval/rollout.h"

#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_task.h"
#include "frostline/core/error.h"
#include "frostline/core/shutdown.h"

namespace frostline::eval {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::FakeEnvironment;
using testing::FakeFaults;
using testing::FakeRenderer;
using ::testing::HasSubstr;
using testing::kImageSize_px;

PoolParts fake_parts(const std::shared_ptr<FakeFaults>& faults) {
  return {
      .create_environment = [faults] { return std::make_unique<FakeEnvironment>(faults); },
      .create_renderer = [faults] { return std::make_unique<FakeRenderer>(faults); },
      .height_px = kImageSize_px,
      .width_px = kImageSize_px,
  };
}

/// Moves environment `seed` by 1 / (seed + 1), so that seed s succeeds with action number s + 1.
class SteadyActor final : public Actor {
 public:
  explicit SteadyActor(std::int64_t batch, std::int64_t image_interval = 2)
      : batch_(batch), image_interval_(image_interval) {}

  std::int64_t batch() const override { return batch_; }

  bool needs_images(std::int64_t step) const override {
    return image_interval_ > 0 && step % image_interval_ == 0;
  }

  void reset(std::span<const std::uint64_t> env_seeds) override {
    seeds_.assign(env_seeds.begin(), env_seeds.end());
    ++num_resets;
  }

  void act(std::int64_t step,
           std::span<const float> states,
           std::span<const std::uint8_t> images,
           std::span<float> actions) override {
    EXPECT_EQ(states.size(), seeds_.size());
    EXPECT_EQ(images.empty(), !needs_images(step));
    for (std::size_t i = 0; i < seeds_.size(); ++i) {
      // 2^-20 makes up for rounding.
      actions[i] = 1.0F / static_cast<float>(seeds_[i] + 1) + 1.0F / (1 << 20);
      if (step == 0 && !images.empty()) {
        seen[seeds_[i]] = images[i * kImageSize_px * kImageSize_px * 3];
      }
    }
    last_step = step;
  }

  int num_resets = 0;
  std::int64_t last_step = -1;
  std::map<std::uint64_t, int> seen;  ///< First image byte of each seed at step 0.

 private:
  std::int64_t batch_;
  std::int64_t image_interval_;
  std::vector<std::uint64_t> seeds_;
};

std::vector<Outcome> roll(
    Actor& actor,
    const std::vector<std::uint64_t>& seeds,
    const RolloutOptions& options = {},
    const std::shared_ptr<FakeFaults>& faults = std::make_shared<FakeFaults>(),
    int num_workers = 2) {
  EnvironmentPool pool(fake_parts(faults),
                       {.num_slots = actor.batch(), .num_workers = num_workers});
  return run_rollouts(pool, seeds, actor, options);
}

std::vector<std::int64_t> steps_of(const std::vector<Outcome>& outcomes) {
  std::vector<std::int64_t> steps;
  for (const Outcome& outcome : outcomes) {
    steps.push_back(outcome.steps);
  }
  return steps;
}

TEST(Rollout, EndsAtSuccessOrTheTimeLimitAndCopiesTheLabels) {
  SteadyActor actor(3);
  RolloutOptions options;
  options.labels.condition = "gpu_only";
  options.labels.train_seed = 7;
  options.labels.features = "int8";
  options.labels.checkpoint = "abc";
  const auto outcomes = roll(actor, {0, 3, 20}, options);
  EXPECT_THAT(steps_of(outcomes), ElementsAre(1, 4, 8));
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::kSuccess);
  EXPECT_EQ(outcomes[2].kind, OutcomeKind::kTaskFailure);
  EXPECT_EQ(outcomes[1].reward_stage, 2);
  EXPECT_EQ(outcomes[2].reward_stage, 0);
  EXPECT_EQ(outcomes[1].task, "fake");
  EXPECT_EQ(outcomes[1].condition, "gpu_only");
  EXPECT_EQ(outcomes[1].train_seed, 7);
  EXPECT_EQ(outcomes[1].env_seed, 3U);
  EXPECT_EQ(outcomes[1].features, "int8");
  EXPECT_EQ(outcomes[1].control, "none");
  EXPECT_EQ(outcomes[1].checkpoint, "abc");
  EXPECT_FALSE(outcomes[1].energy_j.has_value());
}

TEST(Rollout, BatchEndsAsSoonAsAllHaveEnded) {
  SteadyActor actor(2);
  roll(actor, {1, 2});
  EXPECT_EQ(actor.last_step, 2);
}

TEST(Rollout, OutcomesDoNotDependOnWorkersOrPadding) {
  std::vector<std::uint64_t> seeds(10);
  std::iota(seeds.begin(), seeds.end(), 0);
  std::vector<std::int64_t> expected;
  for (const int num_workers : {1, 2, 4}) {
    SteadyActor actor(4);
    const auto outcomes = roll(actor, seeds, {}, std::make_shared<FakeFaults>(), num_workers);
    EXPECT_EQ(actor.num_resets, 3) << "10 seeds in batches of 4";
    if (expected.empty()) {
      expected = steps_of(outcomes);
    }
    EXPECT_EQ(steps_of(outcomes), expected);
  }
  EXPECT_THAT(expected, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 8, 8));
}

TEST(Rollout, TransientFaultIsPlayedAgainAndDoesNotCount) {
  const auto faults = std::make_shared<FakeFaults>();
  faults->physics_seed = 2;
  faults->num_physics = 1;
  SteadyActor actor(3);
  const auto outcomes = roll(actor, {1, 2, 3}, {}, faults);
  EXPECT_EQ(actor.num_resets, 2);
  EXPECT_THAT(steps_of(outcomes), ElementsAre(2, 3, 4));
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.kind, OutcomeKind::kSuccess);
  }
}

TEST(Rollout, LastingRenderingFailureIsAnInfrastructureFailureOfItsEpisodeOnly) {
  const auto faults = std::make_shared<FakeFaults>();
  faults->rendering_seed = 2;
  faults->num_rendering = 1000;
  SteadyActor actor(3);
  const auto outcomes = roll(actor, {1, 2, 3}, {}, faults);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::kSuccess);
  EXPECT_EQ(outcomes[1].kind, OutcomeKind::kInfrastructureFailure);
  EXPECT_EQ(outcomes[2].kind, OutcomeKind::kSuccess);
  EXPECT_FALSE(outcomes[1].is_success());
  EXPECT_GT(faults->num_renderers, 2) << "a failed renderer is replaced";
  EXPECT_EQ(counted_outcomes(outcomes).size(), 2U);
}

TEST(Rollout, ShuffledImagesComeFromAnotherEpisodeEvenInAPaddedBatch) {
  SteadyActor plain(4);
  roll(plain, {5, 6});
  EXPECT_EQ(plain.seen[5], 5);
  EXPECT_EQ(plain.seen[6], 6);

  SteadyActor shuffled(4);
  RolloutOptions options;
  options.control = Control::kImageShuffle;
  const auto outcomes = roll(shuffled, {5, 6}, options);
  EXPECT_EQ(shuffled.seen[5], 6);
  EXPECT_NE(shuffled.seen[6], 6);
  EXPECT_NE(shuffled.seen[6], 5) << "padding plays seeds of its own";
  EXPECT_EQ(outcomes[0].control, "image_shuffle");
}

TEST(Rollout, ShuffledImagesFailTogetherWithTheirSource) {
  const auto faults = std::make_shared<FakeFaults>();
  faults->rendering_seed = 6;
  faults->num_rendering = 1000;
  SteadyActor actor(3);
  RolloutOptions options;
  options.control = Control::kImageShuffle;
  const auto outcomes = roll(actor, {5, 6, 7}, options, faults);
  EXPECT_EQ(outcomes[0].kind, OutcomeKind::kInfrastructureFailure);
  EXPECT_EQ(outcomes[1].kind, OutcomeKind::kInfrastructureFailure);
  EXPECT_EQ(outcomes[2].kind, OutcomeKind::kSuccess);
}

TEST(Rollout, FilmsTheAskedSeedsAtEveryStep) {
  SteadyActor actor(2, 0);
  RolloutOptions options;
  options.video_seeds = {3};
  std::vector<std::int64_t> filmed;
  options.on_frame = [&filmed](const RolloutFrame& frame) {
    EXPECT_EQ(frame.env_seed, 3U);
    EXPECT_EQ(frame.image.front(), 3);
    filmed.push_back(frame.step);
  };
  roll(actor, {1, 3}, options);
  EXPECT_THAT(filmed, ElementsAre(0, 1, 2, 3));
}

template <class Work>
void expect_error(ErrorCode code, const ::testing::Matcher<std::string>& text, Work&& work) {
  try {
    work();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_THAT(std::string(error.what()), text);
  }
}

TEST(Rollout, RepeatedSeedIsRefused) {
  SteadyActor actor(2);
  expect_error(ErrorCode::kUsage, HasSubstr("env_seed=4"), [&] { roll(actor, {4, 5, 4}); });
}

TEST(Rollout, PoolOfAnotherSizeIsRefused) {
  SteadyActor actor(2);
  EnvironmentPool pool(fake_parts(std::make_shared<FakeFaults>()), {.num_slots = 3});
  const std::vector<std::uint64_t> seeds = {1};
  expect_error(ErrorCode::kUsage, AllOf(HasSubstr("slots=3"), HasSubstr("batch=2")), [&] {
    run_rollouts(pool, seeds, actor, {});
  });
}

TEST(Rollout, HungSimulationEndsWithAnErrorInsteadOfWaitingForever) {
  const auto faults = std::make_shared<FakeFaults>();
  SteadyActor actor(2);
  const std::vector<std::uint64_t> seeds = {1};
  {
    EnvironmentPool pool(fake_parts(faults),
                         {.num_slots = 2, .timeout = std::chrono::milliseconds(50)});
    faults->hangs = true;
    expect_error(ErrorCode::kDevice, HasSubstr("does not answer"), [&] {
      run_rollouts(pool, seeds, actor, {});
    });
  }
  faults->hangs = false;
}

TEST(Rollout, RequestedStopInterrupts) {
  SteadyActor actor(2);
  request_shutdown();
  expect_error(ErrorCode::kInterrupted, HasSubstr(""), [&] { roll(actor, {1, 2}); });
  clear_shutdown_request();
}

/// Replays the scripted expert's actions by seed.
class ReplayActor final : public Actor {
 public:
  explicit ReplayActor(const std::vector<std::uint64_t>& seeds, std::int64_t batch)
      : batch_(batch) {
    const auto expert = sim::create_expert("aloha_transfer_cube");
    for (const std::uint64_t seed : seeds) {
      plans_[seed] = expert->plan(seed);
    }
  }

  std::int64_t batch() const override { return batch_; }

  bool needs_images(std::int64_t step) const override { return step % 200 == 0; }

  void reset(std::span<const std::uint64_t> env_seeds) override {
    seeds_.assign(env_seeds.begin(), env_seeds.end());
  }

  void act(std::int64_t step,
           std::span<const float>,
           std::span<const std::uint8_t>,
           std::span<float> actions) override {
    for (std::size_t i = 0; i < seeds_.size(); ++i) {
      const auto plan = plans_.find(seeds_[i]);
      if (plan != plans_.end()) {
        const auto& action = plan->second[static_cast<std::size_t>(step)];
        std::copy(action.begin(),
                  action.end(),
                  actions.begin() + static_cast<std::ptrdiff_t>(i * action.size()));
      }
    }
  }

 private:
  std::int64_t batch_;
  std::map<std::uint64_t, std::vector<std::vector<float>>> plans_;
  std::vector<std::uint64_t> seeds_;
};

TEST(Rollout, ReplayedExpertSucceedsWithAnyNumberOfWorkers) {
  if (sim::task_ids().empty()) {
    GTEST_SKIP() << "this build has no simulator";
  }
  const std::vector<std::uint64_t> seeds = {0, 1, 2};
  ReplayActor actor(seeds, 2);
  std::vector<std::int64_t> expected;
  for (const int num_workers : {1, 2}) {
    EnvironmentPool pool(
        parts_of_task("aloha_transfer_cube", {.camera = "top", .height_px = 24, .width_px = 32}),
        {.num_slots = 2, .num_workers = num_workers});
    const auto outcomes = run_rollouts(pool, seeds, actor, {});
    for (const Outcome& outcome : outcomes) {
      EXPECT_TRUE(outcome.is_success()) << outcome.env_seed;
      EXPECT_EQ(outcome.reward_stage, 4);
    }
    if (expected.empty()) {
      expected = steps_of(outcomes);
      // Action indices 289 to 291 in the specification's counting from 0.
      EXPECT_THAT(expected, Each(AllOf(::testing::Ge(290), ::testing::Le(292))));
    }
    EXPECT_EQ(steps_of(outcomes), expected);
  }
}

TEST(Rollout, ActionThatIsNotANumberNamesTheSeed) {
  if (sim::task_ids().empty()) {
    GTEST_SKIP() << "this build has no simulator";
  }
  EnvironmentPool pool(
      parts_of_task("aloha_transfer_cube", {.camera = "top", .height_px = 24, .width_px = 32}),
      {.num_slots = 1, .num_workers = 1});
  const std::vector<std::uint64_t> seeds = {9};
  pool.reset(seeds);
  std::vector<float> actions(14);
  actions[2] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::uint8_t> is_wanted = {1};
  expect_error(ErrorCode::kNumeric, AllOf(HasSubstr("dimension=2"), HasSubstr("env_seed=9")), [&] {
    pool.step(actions, is_wanted);
  });
}

}  // namespace
}  // namespace frostline::eval
