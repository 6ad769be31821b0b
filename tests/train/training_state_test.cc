#include "frostline/train/training_state.h"

#include <filesystem>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/core/file.h"
#include "tests/support/temp_folder.h"

namespace frostline::train {
namespace {

namespace fs = std::filesystem;

constexpr OptimiserOptions kOptions = {1e-2, 0, 100, 1e-4, 10, 0.99};

policy::ParameterSet make_parameters(std::uint64_t seed) {
  policy::ParameterSet parameters({{"a", {3, 4}, policy::Initialiser::kXavierUniform, 0, {}},
                                   {"b.running_mean",
                                    {4},
                                    policy::Initialiser::kStandardNormal,
                                    0,
                                    policy::ParameterRole::kNormStatistic}});
  parameters.initialise(seed);
  parameters.enable_gradients();
  return parameters;
}

void take_steps(policy::ParameterSet& parameters,
                Optimiser& optimiser,
                std::int64_t first,
                std::int64_t end) {
  for (std::int64_t step = first; step < end; ++step) {
    {
      const at::NoGradGuard no_grad;
      parameters.gradients().copy_(parameters.values() * static_cast<double>(step % 3));
    }
    optimiser.step(step);
  }
}

void no_model(const fs::path& folder) {
  fs::create_directories(folder);
}

TEST(CheckpointFolder, RestoresEveryBit) {
  const test::TempFolder folder;
  auto parameters = make_parameters(1);
  Optimiser optimiser(parameters, kOptions);
  take_steps(parameters, optimiser, 0, 5);
  const CheckpointFolder checkpoints(folder.path());
  checkpoints.save(5, parameters, optimiser, {{"lr", 1}}, no_model);
  take_steps(parameters, optimiser, 5, 9);

  auto again = make_parameters(2);
  Optimiser optimiser_again(again, kOptions);
  EXPECT_EQ(checkpoints.restore(again, optimiser_again, {{"lr", 1}}, false), 5);
  take_steps(again, optimiser_again, 5, 9);
  EXPECT_TRUE(again.values().equal(parameters.values()));
  EXPECT_TRUE(again.at("b.running_mean").equal(parameters.at("b.running_mean")));
  EXPECT_TRUE(optimiser_again.averaged().equal(optimiser.averaged()));
}

TEST(CheckpointFolder, AnotherConfigurationIsNamed) {
  const test::TempFolder folder;
  auto parameters = make_parameters(1);
  Optimiser optimiser(parameters, kOptions);
  const CheckpointFolder checkpoints(folder.path());
  checkpoints.save(5, parameters, optimiser, {{"batch_size", 8}}, no_model);
  try {
    checkpoints.restore(parameters, optimiser, {{"batch_size", 16}}, false);
    FAIL() << "must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_NE(std::string(error.what()).find("batch_size: checkpoint=8 now=16"), std::string::npos);
  }
}

TEST(CheckpointFolder, PartialCheckpointIsIgnored) {
  const test::TempFolder folder;
  auto parameters = make_parameters(1);
  Optimiser optimiser(parameters, kOptions);
  const CheckpointFolder checkpoints(folder.path());
  EXPECT_FALSE(checkpoints.last());
  checkpoints.save(5, parameters, optimiser, {}, no_model);
  fs::create_directories(folder.path() / "checkpoints" / "000010.partial" / "training_state");
  EXPECT_EQ(checkpoints.last()->filename(), "000005");
}

}  // namespace
}  // namespace frostline::train
