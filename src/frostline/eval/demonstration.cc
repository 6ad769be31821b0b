#include "frostline/eval/demonstration.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/core/shutdown.h"

namespace frostline::eval {

DemonstrationSource::DemonstrationSource(std::unique_ptr<sim::Environment> environment,
                                         std::unique_ptr<sim::Expert> expert,
                                         const Options& options,
                                         const std::vector<RecordedEpisode>& recorded)
    : environment_(std::move(environment)),
      expert_(std::move(expert)),
      options_(options),
      next_seed_(recorded.empty() ? options.first_seed : recorded.back().env_seed + 1),
      num_found_(static_cast<std::int64_t>(recorded.size())) {
  const sim::TaskInfo& task = environment_->task();
  FROSTLINE_REQUIRE(
      options.strata == 0 || (task.start_low_m.size() >= 2 && task.start_high_m.size() >= 2),
      ErrorCode::kUnsupported,
      "the task's start positions have no bounds to divide",
      fmt::format("task={} strata={}", task.id, options.strata));
  for (const RecordedEpisode& episode : recorded) {
    ++stratum_counts_[stratum(episode.start_position_m)];
    num_passed_over_ = episode.num_passed_over;
  }
}

std::optional<Demonstration> DemonstrationSource::next() {
  // Far more than any working expert needs; only stops an endless search.
  constexpr std::int64_t kMaxFailures = 20;
  if (num_found_ >= options_.num_episodes) {
    return std::nullopt;
  }
  Demonstration demonstration;
  for (;; ++next_seed_) {
    throw_if_shutdown_requested();
    environment_->reset(next_seed_);
    const std::int64_t cell = stratum(environment_->start_position_m());
    if (options_.strata > 0 && stratum_counts_[cell] >= stratum_capacity()) {
      ++num_passed_over_;
      continue;
    }
    if (play(next_seed_, demonstration)) {
      ++stratum_counts_[cell];
      ++num_found_;
      ++next_seed_;
      return demonstration;
    }
    demonstration.failed_seeds.push_back(next_seed_);
    ++num_failed_;
    FROSTLINE_REQUIRE(num_failed_ <= kMaxFailures + num_found_,
                      ErrorCode::kData,
                      "the scripted expert fails too often",
                      fmt::format("task={} succeeded={} failed={} last_seed={}",
                                  environment_->task().id,
                                  num_found_,
                                  num_failed_,
                                  next_seed_));
  }
}

std::int64_t DemonstrationSource::stratum(const std::vector<double>& start_position_m) const {
  if (options_.strata == 0) {
    return 0;
  }
  const sim::TaskInfo& task = environment_->task();
  std::int64_t cell = 0;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const double fraction = (start_position_m.at(axis) - task.start_low_m[axis]) /
                            (task.start_high_m[axis] - task.start_low_m[axis]);
    const auto index = static_cast<std::int64_t>(fraction * options_.strata);
    cell = cell * options_.strata + std::clamp<std::int64_t>(index, 0, options_.strata - 1);
  }
  return cell;
}

std::int64_t DemonstrationSource::stratum_capacity() const {
  const std::int64_t num_cells = std::int64_t{options_.strata} * options_.strata;
  return (options_.num_episodes + num_cells - 1) / num_cells;
}

bool DemonstrationSource::play(std::uint64_t env_seed, Demonstration& demonstration) {
  const sim::TaskInfo& task = environment_->task();
  demonstration.states.clear();
  demonstration.snapshots.clear();
  demonstration.actions = expert_->plan(env_seed);
  environment_->reset(env_seed);
  demonstration.episode = {.env_seed = env_seed,
                           .start_position_m = environment_->start_position_m(),
                           .first_success_step = -1,
                           .num_passed_over = num_passed_over_};
  for (const std::vector<float>& action : demonstration.actions) {
    std::vector<float> state(static_cast<std::size_t>(task.state_dim));
    environment_->observe(state);
    demonstration.states.push_back(std::move(state));
    demonstration.snapshots.push_back(environment_->save());
    const sim::StepResult result = environment_->step(action);
    if (result.fault != sim::Fault::kNone) {
      return false;
    }
    if (result.is_success && demonstration.episode.first_success_step < 0) {
      demonstration.episode.first_success_step =
          static_cast<std::int64_t>(demonstration.states.size()) - 1;
    }
  }
  return demonstration.episode.first_success_step >= 0;
}

}  // namespace frostline::eval
