#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace frostline::sim {

/// Why an episode cannot be trusted; never counted as a failure of the policy.
enum class Fault { kNone, kRendering, kPhysics };

/// What a step of the environment gives.
struct StepResult {
  int reward_stage = 0;     ///< 0..max_reward_stage.
  bool is_success = false;  ///< True from the first step that reached the last stage.
  Fault fault = Fault::kNone;
};

/// What a task is, without a simulation.
struct TaskInfo {
  std::string id;           ///< `aloha_transfer_cube`.
  std::string instruction;  ///< Text stored as the episode's task.
  std::int64_t state_dim = 0;
  std::int64_t action_dim = 0;
  std::int64_t control_hz = 0;
  std::int64_t max_steps = 0;
  int max_reward_stage = 0;
  std::vector<std::string> cameras;
  /// Bounds of `Environment::start_position_m` along the axes that vary. Units: metres.
  std::vector<double> start_low_m;
  std::vector<double> start_high_m;
};

/// Everything needed to continue a simulation exactly.
using Snapshot = std::vector<double>;

/// One simulated task instance. One thread; instances are independent.
class Environment {
 public:
  Environment() = default;
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  Environment(Environment&&) = delete;
  Environment& operator=(Environment&&) = delete;
  virtual ~Environment() = default;

  /// The same for every instance of a task; outlives them.
  virtual const TaskInfo& task() const = 0;
  /// Puts the task into the start state of `seed`; the same seed gives the same state always.
  virtual void reset(std::uint64_t seed) = 0;
  /// Shape: `action` [action_dim]. Actions are never clipped to a declared box.
  /// Errors: `kNumeric` naming the dimension when an action is not finite.
  virtual StepResult step(std::span<const float> action) = 0;
  /// Shape: [state_dim] into `out`.
  virtual void observe(std::span<float> out) const = 0;
  /// Position of the manipulated object at reset, for stratified reports. Units: metres.
  virtual std::vector<double> start_position_m() const = 0;
  /// A simulation that continues from a restored snapshot equals the original bit for bit.
  virtual Snapshot save() const = 0;
  virtual void restore(const Snapshot& snapshot) = 0;
};

struct RenderOptions {
  std::string camera = "top";
  int height_px = 240;
  int width_px = 320;
  bool has_shadows = false;  ///< Reflections too.
  /// Multisampling (anti-aliasing); 0 is off. 4 makes a software-drawn image about 4 times slower.
  int num_samples = 0;
};

/// Draws environments of one task. One thread: the one that made it (a GL context is bound to it).
class Renderer {
 public:
  Renderer() = default;
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;
  Renderer(Renderer&&) = delete;
  Renderer& operator=(Renderer&&) = delete;
  virtual ~Renderer() = default;

  /// Shape: [height, width, 3] uint8 RGB, top row first. Errors: `kDevice` when GL fails.
  virtual void render(const Environment& environment, std::span<std::uint8_t> out) = 0;
  /// Vendor, version and device of the GL in use, part of fingerprints.
  virtual std::string version() const = 0;
};

struct ExpertOptions {
  double noise_m = 0.0;  ///< Uniform disturbance of the commanded positions, +- per axis and step.
};

/// Plays a scripted demonstration. One thread.
class Expert {
 public:
  Expert() = default;
  Expert(const Expert&) = delete;
  Expert& operator=(const Expert&) = delete;
  Expert(Expert&&) = delete;
  Expert& operator=(Expert&&) = delete;
  virtual ~Expert() = default;

  /// Plans for the start state of `seed` and returns one action per control step for the
  /// joint-space environment. Shape: [num_steps][action_dim].
  virtual std::vector<std::vector<float>> plan(std::uint64_t seed) = 0;
};

/// Version of MuJoCo; empty when it is not built in.
std::string mujoco_version();
/// Ids of the built-in tasks.
std::vector<std::string> task_ids();
/// Errors: `kUsage` naming the known ids; `kUnsupported` when MuJoCo is not built in.
const TaskInfo& task_info(const std::string& id);
std::unique_ptr<Environment> create_environment(const std::string& task_id);
std::unique_ptr<Expert> create_expert(const std::string& task_id,
                                      const ExpertOptions& options = {});
/// Errors: `kDevice` when no GL context can be made, with the reason and the remedy.
std::unique_ptr<Renderer> create_renderer(const std::string& task_id, const RenderOptions& options);

}  // namespace frostline::sim
