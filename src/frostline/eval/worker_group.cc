#include "frostline/eval/worker_group.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/core/log.h"

namespace frostline::eval {

struct WorkerGroup::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  Job job;
  std::uint64_t generation = 0;
  int num_busy = 0;
  bool is_closed = false;
  bool is_hung = false;
  std::exception_ptr error;
  std::vector<std::thread> threads;

  static void work(const std::shared_ptr<Shared>& shared, int worker_index) {
    std::uint64_t seen = 0;
    std::unique_lock lock(shared->mutex);
    for (;;) {
      shared->changed.wait(lock, [&] { return shared->generation != seen || shared->is_closed; });
      if (shared->is_closed) {
        return;
      }
      seen = shared->generation;
      Job job = shared->job;
      lock.unlock();
      std::exception_ptr error;
      try {
        job(worker_index);
      } catch (...) {
        error = std::current_exception();
      }
      job = nullptr;
      lock.lock();
      if (error && !shared->error) {
        shared->error = error;
      }
      if (--shared->num_busy == 0) {
        shared->job = nullptr;
      }
      shared->changed.notify_all();
    }
  }
};

WorkerGroup::WorkerGroup(int num_workers, std::chrono::milliseconds timeout)
    : num_workers_(num_workers > 0
                       ? num_workers
                       : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))),
      timeout_(timeout),
      shared_(std::make_shared<Shared>()) {
  for (int i = 0; i < num_workers_; ++i) {
    shared_->threads.emplace_back([shared = shared_, i] { Shared::work(shared, i); });
  }
}

WorkerGroup::~WorkerGroup() {
  std::vector<std::thread> threads;
  bool is_hung = false;
  {
    std::unique_lock lock(shared_->mutex);
    is_hung = shared_->is_hung ||
              !shared_->changed.wait_for(lock, timeout_, [&] { return shared_->num_busy == 0; });
    shared_->is_closed = true;
    threads.swap(shared_->threads);
    shared_->changed.notify_all();
  }
  for (std::thread& thread : threads) {
    if (is_hung) {
      thread.detach();
    } else {
      thread.join();
    }
  }
}

void WorkerGroup::start(Job job) {
  const std::lock_guard lock(shared_->mutex);
  FROSTLINE_CHECK(shared_->num_busy == 0 && !shared_->is_hung);
  shared_->job = std::move(job);
  shared_->error = nullptr;
  shared_->num_busy = num_workers_;
  ++shared_->generation;
  shared_->changed.notify_all();
}

void WorkerGroup::wait() {
  std::unique_lock lock(shared_->mutex);
  if (!shared_->changed.wait_for(lock, timeout_, [&] { return shared_->num_busy == 0; })) {
    shared_->is_hung = true;
    throw Error(
        ErrorCode::kDevice,
        "a simulation worker does not answer",
        fmt::format("workers={} still_busy={} waited_ms={}; the OpenGL driver may hang: try "
                    "another device with FROSTLINE_EGL_DEVICE",
                    num_workers_,
                    shared_->num_busy,
                    timeout_.count()));
  }
  if (shared_->error) {
    std::rethrow_exception(std::exchange(shared_->error, nullptr));
  }
}

bool WorkerGroup::finish(Job job) noexcept {
  try {
    try {
      wait();
    } catch (const std::exception& error) {
      log_warning("a simulation worker failed at the end: {}", error.what());
    }
    {
      const std::lock_guard lock(shared_->mutex);
      if (shared_->is_hung) {
        return false;
      }
    }
    run(std::move(job));
    return true;
  } catch (const std::exception& error) {
    log_warning("a simulation worker could not be ended: {}", error.what());
    return false;
  }
}

}  // namespace frostline::eval
