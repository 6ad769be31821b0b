#include "frostline/eval/frame_painter.h"

#include <utility>

namespace frostline::eval {

/// Shared with the workers' jobs, so that a hung worker never touches freed memory.
struct FramePainter::State {
  struct Worker {
    std::unique_ptr<sim::Environment> environment;
    std::vector<std::unique_ptr<sim::Renderer>> renderers;  ///< One a camera.
  };

  Parts parts;
  std::vector<Worker> workers;
  std::vector<sim::Snapshot> snapshots;
  std::vector<std::uint8_t> images;
  std::string renderer_version;

  void make(std::size_t index) {
    Worker& worker = workers[index];
    worker.environment = parts.create_environment();
    for (const std::string& camera : parts.cameras) {
      worker.renderers.push_back(parts.create_renderer(camera));
    }
    if (index == 0 && !worker.renderers.empty()) {
      renderer_version = worker.renderers.front()->version();
    }
  }

  void draw(std::size_t index) {
    Worker& worker = workers[index];
    for (std::size_t i = index; i < snapshots.size(); i += workers.size()) {
      worker.environment->restore(snapshots[i]);
      for (std::size_t camera = 0; camera < worker.renderers.size(); ++camera) {
        const std::size_t offset = (i * worker.renderers.size() + camera) * parts.image_bytes;
        worker.renderers[camera]->render(*worker.environment, {&images[offset], parts.image_bytes});
      }
    }
  }
};

FramePainter::FramePainter(const Parts& parts, int num_workers, std::chrono::milliseconds timeout)
    : state_(std::make_shared<State>()), workers_(num_workers, timeout) {
  state_->parts = parts;
  state_->workers.resize(static_cast<std::size_t>(workers_.size()));
  try {
    workers_.run([shared = state_](int worker) { shared->make(static_cast<std::size_t>(worker)); });
  } catch (...) {
    close();
    throw;
  }
}

FramePainter::~FramePainter() {
  close();
}

void FramePainter::close() noexcept {
  // An OpenGL context has to end on its own thread.
  const bool is_closed = workers_.finish([shared = state_](int worker) {
    shared->workers[static_cast<std::size_t>(worker)].renderers.clear();
  });
  if (!is_closed) {
    // A hung worker may still touch it: left behind on purpose.
    static_cast<void>(std::make_unique<std::shared_ptr<State>>(state_).release());
  }
}

const std::string& FramePainter::renderer_version() const {
  return state_->renderer_version;
}

void FramePainter::start(std::vector<sim::Snapshot> snapshots) {
  state_->images.assign(snapshots.size() * state_->parts.cameras.size() * state_->parts.image_bytes,
                        0);
  state_->snapshots = std::move(snapshots);
  workers_.start([shared = state_](int worker) { shared->draw(static_cast<std::size_t>(worker)); });
}

std::vector<std::uint8_t> FramePainter::wait() {
  workers_.wait();
  return std::move(state_->images);
}

}  // namespace frostline::eval
