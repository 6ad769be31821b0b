#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frostline/eval/worker_group.h"
#include "frostline/sim/environment.h"

namespace frostline::eval {

/// Draws the scenes of snapshots with several renderer threads. One thread calls.
///
/// An image depends on its snapshot alone, whichever thread draws it.
class FramePainter {
 public:
  struct Parts {
    std::function<std::unique_ptr<sim::Environment>()> create_environment;
    std::function<std::unique_ptr<sim::Renderer>(const std::string& camera)> create_renderer;
    std::vector<std::string> cameras;
    std::size_t image_bytes = 0;
  };

  /// Errors: those of the parts; no worker is left behind.
  FramePainter(const Parts& parts, int num_workers, std::chrono::milliseconds timeout);
  FramePainter(const FramePainter&) = delete;
  FramePainter& operator=(const FramePainter&) = delete;
  FramePainter(FramePainter&&) = delete;
  FramePainter& operator=(FramePainter&&) = delete;
  ~FramePainter();

  int num_workers() const { return workers_.size(); }

  /// Version of the first camera's renderer.
  const std::string& renderer_version() const;

  /// Begins drawing; the caller does something else until `wait`.
  void start(std::vector<sim::Snapshot> snapshots);
  /// Images in the order snapshot, camera. Shape: [num_snapshots][num_cameras][image_bytes].
  std::vector<std::uint8_t> wait();

 private:
  struct State;

  void close() noexcept;

  std::shared_ptr<State> state_;
  WorkerGroup workers_;
};

}  // namespace frostline::eval
