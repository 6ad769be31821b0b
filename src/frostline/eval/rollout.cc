#include "frostline/eval/rollout.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "frostline/core/clock.h"
#include "frostline/core/error.h"
#include "frostline/core/log.h"
#include "frostline/core/shutdown.h"

namespace frostline::eval {
namespace {

/// What is known of one slot's episode.
struct SlotResult {
  bool has_ended = false;
  OutcomeKind kind = OutcomeKind::kTaskFailure;
  std::int64_t steps = 0;
  std::int64_t reward_stage = 0;
  double duration_s = 0;
};

/// Plays batches of episodes in lock step.
class LockStep {
 public:
  LockStep(EnvironmentPool& pool, Actor& actor, const RolloutOptions& options)
      : pool_(pool),
        actor_(actor),
        options_(options),
        num_slots_(static_cast<std::size_t>(pool.num_slots())),
        max_steps_(options.max_steps > 0 ? options.max_steps : pool.task().max_steps),
        actions_(num_slots_ * static_cast<std::size_t>(pool.task().action_dim)) {}

  /// `env_seeds` fills all slots; the first `num_real` are episodes, the rest are padding.
  std::vector<SlotResult> play(std::span<const std::uint64_t> env_seeds, std::size_t num_real) {
    env_seeds_ = env_seeds;
    num_real_ = num_real;
    results_.assign(num_slots_, {});
    started_ns_ = Clock::steady().now_ns();
    pool_.reset(env_seeds);
    actor_.reset(env_seeds);
    for (std::int64_t step = 0; step < max_steps_ && !all_ended(); ++step) {
      throw_if_shutdown_requested();
      play_step(step);
    }
    return results_;
  }

  /// Whether a slot's result rests on something that failed.
  bool is_tainted(std::size_t slot) const {
    return pool_.fault(static_cast<std::int64_t>(slot)).has_value() ||
           (is_shuffled() &&
            pool_.fault(static_cast<std::int64_t>(image_source(slot))).has_value());
  }

 private:
  bool is_shuffled() const { return options_.control == Control::kImageShuffle; }

  std::size_t image_source(std::size_t slot) const { return (slot + 1) % num_slots_; }

  bool all_ended() const {
    return std::all_of(results_.begin(),
                       results_.begin() + static_cast<std::ptrdiff_t>(num_real_),
                       [](const SlotResult& result) { return result.has_ended; });
  }

  /// With shuffled images every environment goes on to the end of the batch, so that nobody is
  /// shown a frozen scene.
  std::vector<std::uint8_t> running() const {
    std::vector<std::uint8_t> is_running(num_slots_);
    for (std::size_t slot = 0; slot < num_slots_; ++slot) {
      const bool is_alive = slot < num_real_ && !results_[slot].has_ended;
      is_running[slot] = is_alive || is_shuffled() ? 1 : 0;
    }
    return is_running;
  }

  bool is_filmed(std::size_t slot) const {
    return options_.on_frame && slot < num_real_ && !results_[slot].has_ended &&
           std::find(options_.video_seeds.begin(), options_.video_seeds.end(), env_seeds_[slot]) !=
               options_.video_seeds.end();
  }

  void play_step(std::int64_t step) {
    const std::vector<std::uint8_t> is_running = running();
    const auto images = draw(step, is_running);
    actor_.act(step, pool_.observe(), images, actions_);
    const auto steps = pool_.step(actions_, is_running);
    const double elapsed_s = seconds(Clock::steady().now_ns() - started_ns_);
    for (std::size_t slot = 0; slot < num_real_; ++slot) {
      SlotResult& result = results_[slot];
      if (result.has_ended) {
        continue;
      }
      result.duration_s = elapsed_s;
      if (is_tainted(slot)) {
        result.has_ended = true;
        result.kind = OutcomeKind::kInfrastructureFailure;
        continue;
      }
      result.steps = step + 1;
      result.reward_stage = std::max<std::int64_t>(result.reward_stage, steps[slot].reward_stage);
      if (steps[slot].is_success) {
        result.has_ended = true;
        result.kind = OutcomeKind::kSuccess;
      }
    }
  }

  /// Draws what actor and films need; returns the actor's images, empty when it wants none.
  std::span<const std::uint8_t> draw(std::int64_t step,
                                     const std::vector<std::uint8_t>& is_running) {
    const bool is_looking = actor_.needs_images(step);
    std::vector<std::uint8_t> is_wanted(num_slots_);
    bool is_any = false;
    for (std::size_t slot = 0; slot < num_slots_; ++slot) {
      is_wanted[slot] = (is_looking && is_running[slot] != 0) || is_filmed(slot) ? 1 : 0;
      is_any = is_any || is_wanted[slot] != 0;
    }
    if (!is_any) {
      return {};
    }
    const auto images = pool_.render(is_wanted);
    const std::size_t bytes = pool_.image_bytes();
    for (std::size_t slot = 0; slot < num_slots_; ++slot) {
      if (is_filmed(slot) && !pool_.fault(static_cast<std::int64_t>(slot))) {
        options_.on_frame({env_seeds_[slot], step, images.subspan(slot * bytes, bytes)});
      }
    }
    if (!is_looking) {
      return {};
    }
    if (!is_shuffled()) {
      return images;
    }
    shuffled_.resize(images.size());
    for (std::size_t slot = 0; slot < num_slots_; ++slot) {
      const auto source = images.subspan(image_source(slot) * bytes, bytes);
      std::copy(source.begin(),
                source.end(),
                shuffled_.begin() + static_cast<std::ptrdiff_t>(slot * bytes));
    }
    return shuffled_;
  }

  EnvironmentPool& pool_;
  Actor& actor_;
  const RolloutOptions& options_;
  std::size_t num_slots_;
  std::int64_t max_steps_;
  std::vector<float> actions_;
  std::span<const std::uint64_t> env_seeds_;
  std::size_t num_real_ = 0;
  std::vector<SlotResult> results_;
  std::int64_t started_ns_ = 0;
  std::vector<std::uint8_t> shuffled_;
};

void check(const EnvironmentPool& pool,
           std::span<const std::uint64_t> env_seeds,
           const Actor& actor,
           const RolloutOptions& options) {
  FROSTLINE_REQUIRE(actor.batch() == pool.num_slots(),
                    ErrorCode::kUsage,
                    "the pool does not fit the actor's batch",
                    fmt::format("slots={} batch={}", pool.num_slots(), actor.batch()));
  FROSTLINE_REQUIRE(options.control == Control::kNone || actor.batch() > 1,
                    ErrorCode::kUsage,
                    "shuffled images need a batch of at least two",
                    fmt::format("batch={}", actor.batch()));
  std::set<std::uint64_t> seen;
  for (const std::uint64_t seed : env_seeds) {
    FROSTLINE_REQUIRE(seen.insert(seed).second,
                      ErrorCode::kUsage,
                      "an environment seed is listed twice",
                      fmt::format("env_seed={}", seed));
  }
}

/// The seeds of one batch; padding gets seeds of its own, so that shuffled images stay foreign.
std::vector<std::uint64_t> batch_seeds(std::span<const std::uint64_t> all,
                                       std::size_t first,
                                       std::size_t num_slots) {
  const std::size_t num_real = std::min(num_slots, all.size() - first);
  const auto real = all.subspan(first, num_real);
  std::vector<std::uint64_t> seeds(real.begin(), real.end());
  std::uint64_t candidate = 0;
  while (seeds.size() < num_slots) {
    if (std::find(all.begin(), all.end(), candidate) == all.end()) {
      seeds.push_back(candidate);
    }
    ++candidate;
  }
  return seeds;
}

/// Plays a batch, and once more when something failed that is not the policy's doing.
std::vector<SlotResult> play_with_retry(LockStep& lock_step,
                                        const EnvironmentPool& pool,
                                        std::span<const std::uint64_t> env_seeds,
                                        std::size_t num_real) {
  std::vector<SlotResult> results = lock_step.play(env_seeds, num_real);
  std::vector<std::size_t> tainted;
  for (std::size_t slot = 0; slot < num_real; ++slot) {
    if (results[slot].kind == OutcomeKind::kInfrastructureFailure) {
      tainted.push_back(slot);
    }
  }
  if (tainted.empty()) {
    return results;
  }
  for (std::int64_t slot = 0; slot < pool.num_slots(); ++slot) {
    if (const auto& fault = pool.fault(slot)) {
      log_warning("infrastructure failure, the batch is played again: env_seed={} reason={}",
                  env_seeds[static_cast<std::size_t>(slot)],
                  fault->message);
    }
  }
  const std::vector<SlotResult> again = lock_step.play(env_seeds, num_real);
  for (const std::size_t slot : tainted) {
    results[slot] = again[slot];
    if (again[slot].kind == OutcomeKind::kInfrastructureFailure) {
      log_warning("infrastructure failure again, the episode is not counted: env_seed={}",
                  env_seeds[slot]);
    }
  }
  return results;
}

}  // namespace

std::string_view to_string(Control control) {
  return control == Control::kImageShuffle ? "image_shuffle" : "none";
}

std::vector<Outcome> run_rollouts(EnvironmentPool& pool,
                                  std::span<const std::uint64_t> env_seeds,
                                  Actor& actor,
                                  const RolloutOptions& options,
                                  const OutcomesCallback& on_progress) {
  check(pool, env_seeds, actor, options);
  LockStep lock_step(pool, actor, options);
  const auto num_slots = static_cast<std::size_t>(pool.num_slots());
  std::vector<Outcome> outcomes;
  for (std::size_t first = 0; first < env_seeds.size(); first += num_slots) {
    const std::vector<std::uint64_t> seeds = batch_seeds(env_seeds, first, num_slots);
    const std::size_t num_real = std::min(num_slots, env_seeds.size() - first);
    const auto results = play_with_retry(lock_step, pool, seeds, num_real);
    for (std::size_t slot = 0; slot < num_real; ++slot) {
      Outcome outcome = options.labels;
      outcome.task = pool.task().id;
      outcome.env_seed = seeds[slot];
      outcome.control = to_string(options.control);
      outcome.kind = results[slot].kind;
      outcome.steps = results[slot].steps;
      outcome.reward_stage = results[slot].reward_stage;
      outcome.duration_s = results[slot].duration_s;
      outcomes.push_back(std::move(outcome));
    }
    if (on_progress) {
      on_progress(outcomes, static_cast<std::int64_t>(env_seeds.size()));
    }
  }
  return outcomes;
}

std::vector<Outcome> run_rollouts(const std::string& task_id,
                                  const sim::RenderOptions& render,
                                  std::span<const std::uint64_t> env_seeds,
                                  Actor& actor,
                                  const RolloutOptions& options,
                                  const OutcomesCallback& on_progress) {
  EnvironmentPool pool(parts_of_task(task_id, render), {.num_slots = actor.batch()});
  return run_rollouts(pool, env_seeds, actor, options, on_progress);
}

}  // namespace frostline::eval
