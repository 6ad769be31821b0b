#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frostline/eval/worker_group.h"
#include "frostline/sim/environment.h"

namespace frostline::eval {

/// How the members of a pool are made. Called on the worker threads.
struct PoolParts {
  std::function<std::unique_ptr<sim::Environment>()> create_environment;
  std::function<std::unique_ptr<sim::Renderer>()> create_renderer;
  std::int64_t height_px = 0;
  std::int64_t width_px = 0;
};

/// The parts of a built-in task. Errors: as `sim::task_info`.
PoolParts parts_of_task(const std::string& task_id, const sim::RenderOptions& render);

struct PoolOptions {
  std::int64_t num_slots = 1;
  int num_workers = 0;  ///< 0: one for each core, at most one for each slot.
  /// Longest time that one operation on all slots may take.
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
};

/// Why a slot's episode cannot be trusted.
struct SlotFault {
  sim::Fault kind = sim::Fault::kNone;
  std::string message;
};

/// A fixed number of environments that are stepped and drawn side by side. One thread calls.
///
/// Each slot belongs to one worker thread, and each worker has one renderer; what a slot does
/// depends on its seed and actions alone, never on the number of workers. A failed rendering or a
/// diverged simulation becomes the fault of its slot, which then rests until the next reset. What
/// is wrong with an action (`kNumeric`) is thrown.
class EnvironmentPool {
 public:
  /// Makes all environments and renderers. Errors: those of the parts.
  EnvironmentPool(const PoolParts& parts, const PoolOptions& options);
  EnvironmentPool(const EnvironmentPool&) = delete;
  EnvironmentPool& operator=(const EnvironmentPool&) = delete;
  EnvironmentPool(EnvironmentPool&&) = delete;
  EnvironmentPool& operator=(EnvironmentPool&&) = delete;
  ~EnvironmentPool();

  const sim::TaskInfo& task() const;
  std::int64_t num_slots() const;
  std::int64_t height_px() const;
  std::int64_t width_px() const;
  std::size_t image_bytes() const;

  /// Shape: `seeds` [num_slots].
  void reset(std::span<const std::uint64_t> seeds);
  /// Shape: [num_slots, state_dim]; valid until the next call.
  std::span<const float> observe();
  /// Draws the slots with a non-zero `is_wanted`; the others keep their last image (black before
  /// the first). Shape: [num_slots, height, width, 3] uint8 RGB; valid until the next call.
  std::span<const std::uint8_t> render(std::span<const std::uint8_t> is_wanted);
  /// Steps the slots with a non-zero `is_wanted`. Shape: `actions` [num_slots, action_dim]; the
  /// result of an unstepped slot is its last one. Valid until the next call.
  std::span<const sim::StepResult> step(std::span<const float> actions,
                                        std::span<const std::uint8_t> is_wanted);
  const std::optional<SlotFault>& fault(std::int64_t slot) const;
  /// Version of the renderers, part of fingerprints.
  const std::string& renderer_version() const;

 private:
  struct State;

  void close() noexcept;
  void for_each_slot(const std::function<void(State&, std::size_t slot, int worker)>& work);

  std::shared_ptr<State> state_;
  WorkerGroup workers_;
};

}  // namespace frostline::eval
