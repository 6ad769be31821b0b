#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frostline/eval/environment_pool.h"
#include "frostline/eval/outcome.h"

namespace frostline::eval {

/// The policy as a rollout sees it. One thread.
///
/// Row i of every call belongs to the same environment from `reset` to the next `reset`, and a
/// row's action must depend on that row's inputs alone: rows of ended or unused environments hold
/// stale values.
class Actor {
 public:
  Actor() = default;
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;
  Actor(Actor&&) = delete;
  Actor& operator=(Actor&&) = delete;
  virtual ~Actor() = default;

  /// Number of environments driven in lock step; fixed, because numeric results may change with it.
  virtual std::int64_t batch() const = 0;
  /// Whether `act` will look at images at `step`; drawing them costs most of a rollout.
  virtual bool needs_images(std::int64_t step) const = 0;
  /// Forgets the last episodes. Shape: `env_seeds` [batch].
  virtual void reset(std::span<const std::uint64_t> env_seeds) = 0;
  /// Shape: `states` [batch, state_dim]; `images` [batch, height, width, 3] uint8 RGB, empty when
  /// `needs_images(step)` is false; `actions` [batch, action_dim].
  virtual void act(std::int64_t step,
                   std::span<const float> states,
                   std::span<const std::uint8_t> images,
                   std::span<float> actions) = 0;
};

enum class Control {
  kNone,
  /// Environment i is shown the image of environment (i + 1) mod batch, so that the policy sees
  /// another episode: what success is left does not come from looking.
  kImageShuffle,
};

std::string_view to_string(Control control);

/// One drawn image of a rollout.
struct RolloutFrame {
  std::uint64_t env_seed = 0;
  std::int64_t step = 0;
  std::span<const std::uint8_t> image;  ///< Shape: [height, width, 3] uint8 RGB.
};

struct RolloutOptions {
  /// Copied into every outcome: condition, train_seed, features, checkpoint.
  Outcome labels;
  Control control = Control::kNone;
  std::int64_t max_steps = 0;  ///< 0: the task's own limit.
  /// Seeds whose every step is drawn for `on_frame`, whether the actor looks or not.
  std::vector<std::uint64_t> video_seeds;
  std::function<void(const RolloutFrame&)> on_frame;
};

/// Called after every batch with all outcomes so far, in the order of the seeds.
using OutcomesCallback = std::function<void(std::span<const Outcome> done, std::int64_t total)>;

/// Plays one episode for each seed, `actor.batch()` at a time, to success or the time limit.
///
/// Outcomes depend on seeds and actor alone: not on the number of workers, and without a control
/// not on the other seeds either. A batch in which something failed that is not the policy's doing
/// (rendering, a diverged simulation) is played once more from its reset; what fails again is an
/// `kInfrastructureFailure`. The pool must have as many slots as the actor's batch.
/// Errors: `kUsage` when seeds repeat or sizes disagree; `kNumeric` when the actor returns an
/// action that is not finite; `kDevice` when a worker hangs; `kInterrupted`.
std::vector<Outcome> run_rollouts(EnvironmentPool& pool,
                                  std::span<const std::uint64_t> env_seeds,
                                  Actor& actor,
                                  const RolloutOptions& options,
                                  const OutcomesCallback& on_progress = {});

/// The same for a built-in task with a pool of its own.
std::vector<Outcome> run_rollouts(const std::string& task_id,
                                  const sim::RenderOptions& render,
                                  std::span<const std::uint64_t> env_seeds,
                                  Actor& actor,
                                  const RolloutOptions& options,
                                  const OutcomesCallback& on_progress = {});

}  // namespace frostline::eval
