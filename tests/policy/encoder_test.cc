#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/policy/ar_actor_encoder.h"
#include "tests/policy/tiny_policy.h"

namespace frostline::policy {
namespace {

TEST(ArActorEncoder, SplittingChangesNothingAtAnyBoundary) {
  const test::TinyPolicy tiny;
  const ArActorEncoder encoder(tiny.spec, tiny.encoder);
  const at::Tensor image = test::test_image(tiny.spec, 3);
  const std::vector<at::Tensor> whole = encoder.encode(image);
  const Prefix expected = encoder.prefix(whole);
  for (std::int64_t boundary = 0; boundary <= 4; ++boundary) {
    std::vector<at::Tensor> crossing = encoder.encode(image, boundary);
    ASSERT_EQ(crossing.size(), static_cast<std::size_t>(boundary + 1));
    for (at::Tensor& x : crossing) {
      x = x.clone();
    }
    const std::vector<at::Tensor> x = encoder.encode_from(crossing);
    const Prefix prefix = encoder.prefix(x);
    ASSERT_EQ(x.size(), whole.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_TRUE(at::equal(x[i], whole[i])) << "L" << boundary << " x_" << i;
    }
    for (std::size_t i = 0; i < prefix.keys.size(); ++i) {
      EXPECT_TRUE(at::equal(prefix.keys[i], expected.keys[i])) << "L" << boundary << " K_" << i;
      EXPECT_TRUE(at::equal(prefix.values[i], expected.values[i])) << "L" << boundary;
    }
    EXPECT_TRUE(at::equal(prefix.memory, expected.memory));
  }
}

TEST(ArActorEncoder, TakesCopiesAndNoGradients) {
  test::TinyPolicy tiny;
  tiny.encoder.enable_gradients();
  const ArActorEncoder encoder(tiny.spec, tiny.encoder);
  const at::Tensor image = test::test_image(tiny.spec, 1);
  const at::Tensor before = encoder.encode(image).back();
  EXPECT_FALSE(before.requires_grad());
  tiny.encoder.initialise(99);
  EXPECT_TRUE(at::equal(encoder.encode(image).back(), before));
}

TEST(ArActorEncoder, RefusesAnImageOfAnotherSizeAndAnUnknownBoundary) {
  const test::TinyPolicy tiny;
  const ArActorEncoder encoder(tiny.spec, tiny.encoder);
  try {
    encoder.encode(at::zeros({1, 64, 64, 3}, at::kByte));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_THAT(error.what(), testing::HasSubstr("expected=u8 [batch, 64, 96, 3]"));
    EXPECT_THAT(error.what(), testing::HasSubstr("[1, 64, 64, 3]"));
  }
  try {
    encoder.encode(test::test_image(tiny.spec, 1), 5);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), testing::HasSubstr("use L0..L4"));
  }
}

TEST(ArActorEncoder, HalfPrecisionStaysClose) {
  const test::TinyPolicy tiny;
  const at::Tensor image = test::test_image(tiny.spec, 2);
  const at::Tensor exact = ArActorEncoder(tiny.spec, tiny.encoder).encode(image).back();
  const at::Tensor half =
      ArActorEncoder(tiny.spec, tiny.encoder, at::kBFloat16).encode(image).back();
  EXPECT_EQ(half.scalar_type(), at::kBFloat16);
  // bf16 keeps 8 bits; about 30 roundings add up.
  EXPECT_LT(((half.to(at::kFloat) - exact).norm() / exact.norm()).item<double>(), 0.05);
}

TEST(TrainableEncoder, AgreesWithTheFrozenOneAfterItsStatisticsAreRecomputed) {
  test::TinyPolicy tiny;
  const TrainableEncoder trainable(tiny.spec, tiny.encoder);
  const at::Tensor image = test::test_image(tiny.spec, 4);
  trainable.accumulate_statistics(image.narrow(0, 0, 2), 0);
  const at::Tensor& mean = tiny.encoder.at("model.backbone.bn1.running_mean");
  const at::Tensor first = mean.clone();
  trainable.accumulate_statistics(image.narrow(0, 2, 2), 1);
  const at::Tensor average = mean.clone();
  trainable.accumulate_statistics(image.narrow(0, 2, 2), 0);
  EXPECT_LT(((first + mean) / 2 - average).abs().max().item<double>(), 1e-6);
  EXPECT_GT((first - mean).abs().max().item<double>(), 0);

  Dropout off;
  const auto x = trainable.forward(image, BatchNormMode::kRunningStatistics, off);
  const auto frozen = ArActorEncoder(tiny.spec, tiny.encoder).encode(image);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_LT((x[i] - frozen[i]).abs().max().item<double>(), 1e-4) << "x_" << i;
  }
}

TEST(TrainableEncoder, PretrainingReachesEveryParameterButTheLeftovers) {
  const ArActorSpec spec = test::tiny_spec();
  ParameterSet parameters(pretrain_parameter_specs(spec));
  parameters.initialise(3);
  parameters.enable_gradients();
  const TrainableEncoder encoder(spec, parameters);
  const ParallelBranch branch(spec, parameters);
  const at::Tensor variance = parameters.at("model.backbone.bn1.running_var").clone();
  Dropout off;
  pretrain_loss(encoder,
                branch,
                test::test_image(spec, 2),
                test::full_batch(spec, 2),
                LossReduction::kValid,
                off)
      .backward();
  EXPECT_FALSE(at::equal(variance, parameters.at("model.backbone.bn1.running_var")));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ParameterSpec& declared = parameters.specs()[i];
    if (declared.role == ParameterRole::kNormStatistic) {
      EXPECT_FALSE(parameters[i].requires_grad()) << declared.name;
      continue;
    }
    const bool is_leftover = declared.name.starts_with("model.encoder_latent_input_proj") ||
                             declared.name.starts_with("model.encoder_1d_feature_pos_embed");
    EXPECT_EQ(parameters[i].grad().abs().sum().item<double>() > 0,
              !is_leftover && !test::starts_without_gradient(declared.name))
        << declared.name;
  }
}

}  // namespace
}  // namespace frostline::policy
