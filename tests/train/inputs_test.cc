#include "frostline/train/inputs.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "frostline/train/device.h"
#include "tests/policy/tiny_policy.h"
#include "tests/support/expect_error.h"
#include "tests/support/tiny_training.h"

namespace frostline::train {
namespace {

using test::expect_error;

bool are_equal(const policy::ExpertBatch& a, const policy::ExpertBatch& b) {
  return a.states.equal(b.states) && a.valid.equal(b.valid) && a.actions.equal(b.actions) &&
         a.action_is_pad.equal(b.action_is_pad) && a.history_drop.equal(b.history_drop);
}

TEST(Inputs, ABatchDependsOnDataSeedAndStepAlone) {
  const test::TinyTraining tiny;
  const auto spec = test::tiny_spec();
  auto options = tiny.options("run").loop;
  const Inputs forwards(options, spec);
  options.num_threads = 2;
  options.image_cache_mb = 1;
  options.out = "elsewhere";
  options.steps = 1000;
  options.learning_rate = 1;
  const Inputs backwards(options, spec);
  options.seed = 6;
  const Inputs other_seed(options, spec);
  std::vector<policy::ExpertBatch> batches;
  for (std::int64_t step = 0; step < 20; ++step) {
    batches.push_back(forwards.batch(step, at::kCPU));
  }
  int num_different = 0;
  for (std::int64_t step = 19; step >= 0; --step) {
    const auto& expected = batches[static_cast<std::size_t>(step)];
    EXPECT_TRUE(are_equal(backwards.batch(step, at::kCPU), expected)) << step;
    EXPECT_EQ(backwards.sampler().batch(step, 2), forwards.sampler().batch(step, 2));
    num_different += are_equal(other_seed.batch(step, at::kCPU), expected) ? 0 : 1;
  }
  EXPECT_GE(num_different, 18);
}

TEST(Inputs, EveryAnchorComesOnceAnEpochWhateverTheBatch) {
  const test::TinyTraining tiny;
  auto options = tiny.options("run").loop;
  options.stride = 1;
  const Inputs inputs(options, test::tiny_spec());
  ASSERT_EQ(inputs.sampler().num_anchors(), 36);
  std::vector<std::int64_t> in_ones;
  std::vector<std::int64_t> in_fives;
  for (std::int64_t step = 0; step < 72 * 5; ++step) {
    for (const auto index : inputs.sampler().batch(step, 1)) {
      in_ones.push_back(index);
    }
  }
  for (std::int64_t step = 0; step < 72; ++step) {
    for (const auto index : inputs.sampler().batch(step, 5)) {
      in_fives.push_back(index);
    }
  }
  EXPECT_EQ(in_ones, in_fives);
  for (std::size_t epoch = 0; epoch < 10; ++epoch) {
    const auto begin = in_ones.begin() + static_cast<std::ptrdiff_t>(epoch * 36);
    EXPECT_EQ(std::set<std::int64_t>(begin, begin + 36).size(), 36U);
  }
}

TEST(StepDropout, DependsOnSeedAndStepAlone) {
  const auto mask = [](std::uint64_t seed, std::int64_t step) {
    policy::Dropout dropout = step_dropout(at::kCPU, 0.3, seed, step);
    dropout(at::ones({5}));
    return dropout(at::ones({64}));
  };
  const at::Tensor expected = mask(3, 7);
  mask(3, 8);
  EXPECT_TRUE(mask(3, 7).equal(expected));
  EXPECT_FALSE(mask(3, 8).equal(expected));
  EXPECT_FALSE(mask(4, 7).equal(expected));
}

TEST(Inputs, MissingCameraIsNamedWithThoseThereAre) {
  const test::TinyTraining tiny(
      [](data::WriterOptions& options) { options.cameras[0].name = "observation.images.wrist"; });
  expect_error([&] { Inputs(tiny.options("run").loop, test::tiny_spec()); },
               ErrorCode::kConfig,
               {"lacks a camera",
                "camera=observation.images.top",
                "observation.images.wrist",
                tiny.dataset().string()});
}

TEST(Inputs, ImagesOfAnotherSizeAreNamed) {
  const test::TinyTraining tiny([](data::WriterOptions& options) {
    options.cameras[0].height_px = 32;
    options.cameras[0].width_px = 64;
  });
  expect_error([&] { Inputs(tiny.options("run").loop, test::tiny_spec()); },
               ErrorCode::kConfig,
               {"images of another size", "32x64", "64x96", "pretrain"});
}

TEST(Inputs, MissingFeatureIsNamedWithThoseThereAre) {
  const test::TinyTraining tiny(
      [](data::WriterOptions& options) { options.features[0].name = "observation.joints"; });
  expect_error([&] { Inputs(tiny.options("run").loop, test::tiny_spec()); },
               ErrorCode::kConfig,
               {"lacks a feature", "feature=observation.state", "observation.joints"});
}

TEST(Inputs, FeatureOfAnotherSizeIsNamed) {
  const test::TinyTraining tiny(
      [](data::WriterOptions& options) { options.features[1].shape = {7}; });
  expect_error([&] { Inputs(tiny.options("run").loop, test::tiny_spec()); },
               ErrorCode::kConfig,
               {"feature of another size", "feature=action", "[7]", "policy=3"});
}

TEST(Inputs, UnknownEpisodeIsNamed) {
  const test::TinyTraining tiny;
  auto options = tiny.options("run").loop;
  options.episodes = {1, 17};
  expect_error([&] { Inputs(options, test::tiny_spec()); }, ErrorCode::kUsage, {"17"});
}

}  // namespace
}  // namespace frostline::train
