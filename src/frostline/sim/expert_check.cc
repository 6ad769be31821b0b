#include "frostline/sim/expert_check.h"

#include <array>

#include <fmt/format.h>

#include "frostline/core/error.h"

namespace frostline::sim {

ExpertTrial try_expert(Environment& environment, Expert& expert, std::uint64_t seed) {
  const auto actions = expert.plan(seed);
  environment.reset(seed);
  ExpertTrial trial;
  for (std::size_t step = 0; step < actions.size(); ++step) {
    const StepResult result = environment.step(actions[step]);
    if (result.fault != Fault::kNone) {
      trial.fault = result.fault;
      return trial;
    }
    if (result.is_success && trial.first_success_step < 0) {
      trial.first_success_step = static_cast<std::int64_t>(step);
    }
    trial.is_held = result.reward_stage == environment.task().max_reward_stage;
  }
  return trial;
}

void check_expert(Environment& environment, Expert& expert, std::span<const std::uint64_t> seeds) {
  std::string failures;
  for (const std::uint64_t seed : seeds) {
    const ExpertTrial trial = try_expert(environment, expert, seed);
    if (!trial.is_good()) {
      failures += fmt::format("{}seed {} ({})",
                              failures.empty() ? "" : ", ",
                              seed,
                              trial.fault != Fault::kNone    ? "the simulation diverged"
                              : trial.first_success_step < 0 ? "no success"
                                                             : "success was not held to the end");
    }
  }
  FROSTLINE_REQUIRE(
      failures.empty(),
      ErrorCode::kUnsupported,
      "the scripted expert does not work with this simulator, so nothing can be recorded",
      fmt::format("task={} failed: {}; since MuJoCo 3.0 welds hold orientation about 400 times "
                  "softer and the expert raises their torquescale to make up for it, so a change "
                  "of welds in another MuJoCo version is the likely cause; use the pinned version "
                  "(scripts/setup.sh)",
                  environment.task().id,
                  failures));
}

void check_expert(const std::string& task_id) {
  constexpr std::array<std::uint64_t, 3> kSeeds = {0, 1, 2};
  const auto environment = create_environment(task_id);
  const auto expert = create_expert(task_id);
  check_expert(*environment, *expert, kSeeds);
}

}  // namespace frostline::sim
