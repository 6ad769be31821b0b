#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/policy/ar_actor_expert.h"
#include "tests/policy/tiny_policy.h"

namespace frostline::policy {
namespace {

class Expert : public testing::Test {
 protected:
  Expert() : prefix_(make_prefix(0.37)) {}

  Prefix make_prefix(double frequency) const {
    const std::int64_t tokens = spec_.num_tokens();
    const std::int64_t head_dim = spec_.dim / spec_.num_heads;
    Prefix prefix;
    for (std::int64_t i = 0; i < spec_.num_encoder_layers; ++i) {
      const double own = frequency + 0.01 * static_cast<double>(i);
      prefix.keys.push_back(test::wave({kBatch, spec_.num_heads, tokens, head_dim}, own));
      prefix.values.push_back(test::wave({kBatch, spec_.num_heads, tokens, head_dim}, 2 * own));
    }
    prefix.memory = test::wave({kBatch, tokens, spec_.dim}, frequency);
    prefix.position = sine_position_2d(spec_.tokens_high(), spec_.tokens_wide(), spec_.dim);
    return prefix;
  }

  at::Tensor run(const ExpertBatch& batch, const Prefix& prefix) {
    Dropout off;
    return AutoregressiveBranch(spec_, tiny_.expert).forward(prefix, batch, off);
  }

  at::Tensor run(const ExpertBatch& batch) { return run(batch, prefix_); }

  static constexpr std::int64_t kBatch = 2;
  test::TinyPolicy tiny_;
  ArActorSpec spec_ = tiny_.spec;
  Prefix prefix_;
};

TEST_F(Expert, AStateSeesNoLaterState) {
  ExpertBatch batch = test::full_batch(spec_, kBatch);
  const at::Tensor before = run(batch);
  batch.states = batch.states.clone();
  batch.states.select(1, spec_.history + 3).add_(1.0);
  const at::Tensor after = run(batch);
  EXPECT_TRUE(at::equal(before.narrow(1, 0, 3), after.narrow(1, 0, 3)));
  EXPECT_GT((before - after).narrow(1, 3, 4).abs().amax({0, 2}).min().item<double>(), 1e-5);
}

TEST_F(Expert, APaddedStateIsNoKey) {
  ExpertBatch batch = test::full_batch(spec_, kBatch);
  batch.valid.select(1, 1).fill_(false);
  const at::Tensor before = run(batch);
  batch.states = batch.states.clone();
  batch.states.select(1, 1).add_(1.0);
  EXPECT_TRUE(at::equal(before, run(batch)));
  batch.states.select(1, 2).add_(1.0);
  EXPECT_FALSE(at::equal(before, run(batch)));
}

// The first layer's prefix gets keys that row 0 ignores and row -1 would attend to with all its
// weight. If row -1 saw the prefix, row 0 would learn of its values one layer later.
TEST_F(Expert, HistoryDoesNotSeeThePrefix) {
  const ExpertBatch batch = test::full_batch(spec_, kBatch);
  const AutoregressiveBranch branch(spec_, tiny_.expert);
  const SelfAttentionLayer& layer = branch.layers().front();
  const std::int64_t head_dim = spec_.dim / spec_.num_heads;
  const at::Tensor query =
      rotate(split_heads(layer.query(layer.norm1(branch.input()(batch.states))), spec_.num_heads),
             rotary_table(-spec_.history, spec_.history + spec_.chunk, head_dim, at::kCPU));
  const at::Tensor earlier = query.narrow(2, spec_.history - 1, 1);
  const at::Tensor now = query.narrow(2, spec_.history, 1);
  const auto dot = [](const at::Tensor& x, const at::Tensor& y) { return (x * y).sum(-1, true); };
  const at::Tensor across = dot(earlier, now);
  const at::Tensor of_earlier = earlier - across / dot(now, now) * now;
  const at::Tensor of_now = now - across / dot(earlier, earlier) * earlier;
  const at::Tensor key =
      (of_earlier / dot(earlier, of_earlier) - of_now / dot(now, of_now)) * 1000.0;

  const auto row_0 = [&](double sign, double value) {
    Prefix prefix = prefix_;
    prefix.keys[0] = (key * sign).expand_as(prefix_.keys[0]).contiguous();
    prefix.values[0] = at::full_like(prefix_.values[0], value);
    return run(batch, prefix).select(1, 0);
  };
  EXPECT_TRUE(at::equal(row_0(1, 0.0), row_0(1, 10.0)));
  EXPECT_FALSE(at::equal(row_0(-1, 0.0), row_0(-1, 10.0)));
}

TEST_F(Expert, PaddedHistoryGivesZeroAttentionAndNoNan) {
  ExpertBatch batch = test::full_batch(spec_, kBatch);
  batch.valid.narrow(1, 0, spec_.history).fill_(false);
  tiny_.expert.enable_gradients();
  const ArActorExpert expert(spec_, tiny_.expert);
  for (Dropout dropout : {Dropout(), Dropout(0.1, 1, 1)}) {
    tiny_.expert.zero_gradients();
    const ExpertLoss loss = expert.loss(prefix_, batch, LossReduction::kValid, dropout);
    loss.total.backward();
    EXPECT_TRUE(loss.total.isfinite().item<bool>());
    EXPECT_TRUE(tiny_.expert.gradients().isfinite().all().item<bool>());
  }
  // Nothing of a padded history may matter.
  const at::Tensor before = run(batch);
  batch.states = batch.states.clone();
  batch.states.narrow(1, 0, spec_.history).fill_(5.0);
  EXPECT_TRUE(at::equal(before, run(batch)));
}

TEST_F(Expert, DroppingAllHistoryEqualsPaddingIt) {
  ExpertBatch dropped = test::full_batch(spec_, kBatch);
  dropped.history_drop = at::ones({spec_.chunk, spec_.history}, at::kBool);
  ExpertBatch padded = test::full_batch(spec_, kBatch);
  padded.valid.narrow(1, 0, spec_.history).fill_(false);
  EXPECT_TRUE(at::equal(run(dropped), run(padded)));
  EXPECT_FALSE(at::equal(run(dropped), run(test::full_batch(spec_, kBatch))));
}

TEST_F(Expert, GradientsReachEveryParameterAndNotThePrefix) {
  tiny_.expert.enable_gradients();
  const ArActorExpert expert(spec_, tiny_.expert);
  Dropout dropout(0.1, 5, 9);
  expert.loss(prefix_, test::full_batch(spec_, kBatch), LossReduction::kAll, dropout)
      .total.backward();
  for (std::size_t i = 0; i < tiny_.expert.size(); ++i) {
    const std::string& name = tiny_.expert.specs()[i].name;
    EXPECT_EQ(tiny_.expert[i].grad().abs().sum().item<double>() > 0,
              !test::starts_without_gradient(name))
        << name;
  }
  EXPECT_FALSE(prefix_.memory.grad().defined());
}

TEST_F(Expert, DropoutDependsOnSeedAndStepAlone) {
  const ArActorExpert expert(spec_, tiny_.expert);
  const ExpertBatch batch = test::full_batch(spec_, kBatch);
  const auto loss_of = [&](std::uint64_t seed, std::uint64_t step) {
    Dropout dropout(0.1, seed, step);
    return expert.loss(prefix_, batch, LossReduction::kAll, dropout).total.item<float>();
  };
  EXPECT_EQ(loss_of(1, 2), loss_of(1, 2));
  EXPECT_NE(loss_of(1, 2), loss_of(1, 3));
  EXPECT_NE(loss_of(1, 2), loss_of(2, 2));
}

TEST(Dropout, KeepsTheMeanAndDropsTheShare) {
  constexpr int kSteps = 50;
  const double dropped = 6554.0 / 65536.0;
  double share = 0;
  double mean = 0;
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    Dropout dropout(0.1, 1, step);
    const at::Tensor y = dropout(at::ones({400, 500}));
    share += (y == 0).to(at::kFloat).mean().item<double>() / kSteps;
    mean += y.mean().item<double>() / kSteps;
    EXPECT_NEAR(y.max().item<double>(), 1.0 / (1.0 - dropped), 1e-6);
  }
  // Four standard errors of 10,000,000 draws; the mean's are larger by 1 / (1 - dropped).
  EXPECT_NEAR(share, dropped, 0.00038);
  EXPECT_NEAR(mean, 1.0, 0.00043);
}

TEST(HistoryDrop, DependsOnSeedAndStepAlone) {
  ArActorSpec spec;
  const at::Tensor drop = draw_history_drop(spec, 3, 10);
  EXPECT_EQ(drop.sizes(), at::IntArrayRef({20, 20}));
  EXPECT_TRUE(at::equal(drop, draw_history_drop(spec, 3, 10)));
  EXPECT_FALSE(at::equal(drop, draw_history_drop(spec, 3, 11)));
  EXPECT_FALSE(at::equal(drop, draw_history_drop(spec, 4, 10)));
  double mean = 0;
  for (std::uint64_t step = 0; step < 50; ++step) {
    mean += draw_history_drop(spec, 3, step).to(at::kFloat).mean().item<double>() / 50;
  }
  EXPECT_NEAR(mean, 0.5, 0.011);
  spec.history_mask_probability = 0;
  EXPECT_FALSE(draw_history_drop(spec, 3, 10).any().item<bool>());
}

TEST(ActionLoss, ReducesOverValidOrAll) {
  const at::Tensor predicted = at::zeros({1, 4, 2});
  const at::Tensor target = at::full({1, 4, 2}, 3.0);
  at::Tensor is_pad = at::zeros({1, 4}, at::kBool);
  is_pad.select(1, 3).fill_(true);
  const auto loss = [&](LossReduction reduction) {
    return action_loss(predicted, target, is_pad, reduction).item<float>();
  };
  EXPECT_FLOAT_EQ(loss(LossReduction::kValid), 3.0F);
  EXPECT_FLOAT_EQ(loss(LossReduction::kAll), 2.25F);
  is_pad.fill_(true);
  EXPECT_FLOAT_EQ(loss(LossReduction::kValid), 0.0F);
  EXPECT_EQ(loss_reduction_from(name_of(LossReduction::kAll)), LossReduction::kAll);
  EXPECT_THROW(loss_reduction_from("mean"), Error);
}

}  // namespace
}  // namespace frostline::policy
