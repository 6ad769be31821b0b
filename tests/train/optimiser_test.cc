#include "frostline/train/optimiser.h"

#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

namespace frostline::train {
namespace {

policy::ParameterSet one_parameter(float value, float gradient) {
  policy::ParameterSet parameters({{"w", {1}, policy::Initialiser::kZeros, 0, {}}});
  parameters.enable_gradients();
  const at::NoGradGuard no_grad;
  parameters.at("w").fill_(value);
  parameters.gradients()[0].fill_(gradient);
  return parameters;
}

TEST(Optimiser, FirstStepIsAdamWByHand) {
  auto parameters = one_parameter(2.0F, 0.5F);
  Optimiser optimiser(parameters, {0.1, 0, 1000, 0.01, 10, 0});
  optimiser.step(0);
  // With zero moments the bias-corrected step is lr * sign(g); decay is lr * wd * w.
  EXPECT_NEAR(parameters.at("w").item<float>(), 2.0 - 0.1 * 0.01 * 2.0 - 0.1, 1e-5);
  EXPECT_EQ(parameters.gradients()[0].item<float>(), 0.0F);
}

TEST(Optimiser, ClipsToTheNormAndReportsTheOneBefore) {
  auto parameters = one_parameter(0.0F, 40.0F);
  Optimiser optimiser(parameters, {1.0, 0, 1000, 0, 10, 0});
  EXPECT_NEAR(optimiser.step(0).item<double>(), 40.0, 1e-4);
  const auto state = optimiser.state();
  ASSERT_EQ(state[0].first, "exp_avg");
  EXPECT_NEAR(state[0].second[0].item<double>(), 0.1 * 10, 1e-4);
}

TEST(Optimiser, AverageForgetsTheStartQuickly) {
  auto parameters = one_parameter(100.0F, 0.0F);
  Optimiser optimiser(parameters, {0.0, 0, 1000, 0, 10, 0.998});
  {
    const at::NoGradGuard no_grad;
    parameters.at("w").fill_(1.0F);
  }
  for (std::int64_t step = 0; step < 60; ++step) {
    optimiser.step(step);
  }
  EXPECT_LT(std::abs(optimiser.averaged()[0].item<float>() - 1.0F), 1e-3F);
}

TEST(LearningRate, WarmsUpLinearlyAndEndsAtZero) {
  const OptimiserOptions options = {1e-3, 10, 110, 0, 10, 0};
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 0), 1e-4);
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 9), 1e-3);
  EXPECT_DOUBLE_EQ(learning_rate_at(options, 10), 1e-3);
  EXPECT_NEAR(learning_rate_at(options, 60), 0.5e-3, 1e-9);
  EXPECT_NEAR(learning_rate_at(options, 110), 0, 1e-12);
}

}  // namespace
}  // namespace frostline::train
