#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/policy/ar_actor_actor.h"
#include "tests/policy/tiny_policy.h"

namespace frostline::policy {
namespace {

class Actor : public testing::Test {
 protected:
  Actor() : encoder_(tiny_.spec, tiny_.encoder), branch_(tiny_.spec, tiny_.expert) {
    prefix_ = encoder_.prefix(encoder_.encode(test::test_image(tiny_.spec, kEnvironments)));
  }

  ArActorActor make(ActorOptions options = {}) const {
    return {branch_, unit(tiny_.spec.state_dim), unit(tiny_.spec.action_dim), options};
  }

  static Normaliser unit(std::int64_t n) {
    return {std::vector<float>(static_cast<std::size_t>(n), 0.0F),
            std::vector<float>(static_cast<std::size_t>(n), 1.0F)};
  }

  static constexpr std::int64_t kEnvironments = 2;
  test::TinyPolicy tiny_;
  ArActorEncoder encoder_;
  AutoregressiveBranch branch_;
  Prefix prefix_;
};

// fp32 with other shapes of the same products.
constexpr double kTolerance = 1e-5;

TEST_F(Actor, StepByStepEqualsTeacherForcing) {
  const ArActorSpec& spec = tiny_.spec;
  ExpertBatch batch = test::full_batch(spec, kEnvironments);
  batch.valid.narrow(1, 0, spec.history).fill_(false);
  Dropout off;
  const at::Tensor expected = branch_.forward(prefix_, batch, off);
  ArActorActor actor = make();
  actor.reset(kEnvironments);
  actor.observe_image(prefix_);
  for (std::int64_t t = 0; t < spec.chunk; ++t) {
    const at::Tensor action = actor.act(batch.states.select(1, spec.history + t));
    EXPECT_LT((action - expected.select(1, t)).abs().max().item<double>(), kTolerance) << t;
  }
}

// The image is seen at the relative position of its own step, wherever the episode stands. After
// the ring has turned over, a constant state and image give a constant action at equal distances.
TEST_F(Actor, RotatesThePrefixToTheStepOfItsImage) {
  const ArActorSpec& spec = tiny_.spec;
  ArActorActor actor = make();
  actor.reset(kEnvironments);
  const at::Tensor state = test::wave({kEnvironments, spec.state_dim});
  std::vector<at::Tensor> actions;
  for (std::int64_t t = 0; t <= 9 * spec.vision_interval; ++t) {
    if (actor.needs_image()) {
      actor.observe_image(prefix_);
    }
    actions.push_back(actor.act(state));
  }
  const auto at_step = [&](std::int64_t t) { return actions[static_cast<std::size_t>(t)]; };
  const std::int64_t last = 9 * spec.vision_interval;
  const std::int64_t earlier = 8 * spec.vision_interval;
  EXPECT_LT((at_step(last) - at_step(earlier)).abs().max().item<double>(), 1e-4);
  EXPECT_GT((at_step(last) - at_step(last - 1)).abs().max().item<double>(), 1e-4);
}

TEST_F(Actor, AsksForAnImageEveryInterval) {
  ArActorActor actor = make();
  actor.reset(kEnvironments);
  const at::Tensor state = test::wave({kEnvironments, tiny_.spec.state_dim});
  EXPECT_THROW(actor.act(state), Error);
  int images = 0;
  for (std::int64_t t = 0; t < 15; ++t) {
    if (actor.needs_image()) {
      EXPECT_EQ(t % tiny_.spec.vision_interval, 0);
      actor.observe_image(prefix_);
      ++images;
    }
    actor.act(state);
  }
  EXPECT_EQ(images, 3);
}

TEST_F(Actor, EmptySlotsTakeAttentionOnlyOnRequest) {
  const at::Tensor state = test::wave({kEnvironments, tiny_.spec.state_dim});
  ArActorActor masked = make();
  ArActorActor published = make({.mask_unfilled_slots = false});
  for (ArActorActor* actor : {&masked, &published}) {
    actor->reset(kEnvironments);
    actor->observe_image(prefix_);
  }
  EXPECT_FALSE(at::equal(masked.act(state), published.act(state)));
}

TEST_F(Actor, ResetForgetsTheEpisode) {
  ArActorActor actor = make();
  const at::Tensor state = test::wave({kEnvironments, tiny_.spec.state_dim});
  const auto two_steps = [&] {
    actor.reset(kEnvironments);
    actor.observe_image(prefix_);
    actor.act(state);
    return actor.act(state * 2);
  };
  const at::Tensor first = two_steps();
  actor.act(state);
  EXPECT_TRUE(at::equal(first, two_steps()));
}

TEST_F(Actor, EnvironmentsDoNotMix) {
  ArActorActor actor = make();
  const at::Tensor states = test::wave({kEnvironments, tiny_.spec.state_dim});
  at::Tensor changed = states.clone();
  changed.select(0, 1).add_(1.0);
  const auto first_of = [&](const at::Tensor& x) {
    actor.reset(kEnvironments);
    actor.observe_image(prefix_);
    actor.act(x);
    return actor.act(x).select(0, 0);
  };
  EXPECT_TRUE(at::equal(first_of(states), first_of(changed)));
}

TEST_F(Actor, AppliesBothNormalisers) {
  const ArActorSpec& spec = tiny_.spec;
  const Normaliser state({1, 2, 3, 4, 5}, {2, 2, 2, 2, 2});
  const Normaliser action({10, 20, 30}, {2, 3, 4});
  ArActorActor scaled(branch_, state, action);
  ArActorActor plain = make();
  for (ArActorActor* actor : {&scaled, &plain}) {
    actor->reset(kEnvironments);
    actor->observe_image(prefix_);
  }
  const at::Tensor normalised = test::wave({kEnvironments, spec.state_dim});
  const at::Tensor raw = normalised * 2 + at::arange(1, 6, at::kFloat);
  const at::Tensor before = raw.clone();
  const at::Tensor expected =
      plain.act(normalised) * (at::arange(2, 5, at::kFloat)) + at::arange(10, 31, 10, at::kFloat);
  EXPECT_LT((scaled.act(raw) - expected).abs().max().item<double>(), kTolerance);
  EXPECT_TRUE(at::equal(raw, before));
}

}  // namespace
}  // namespace frostline::policy
