#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace frostline::eval {

/// A fixed set of threads that run one job side by side. One thread starts and waits.
///
/// A worker may hang inside a driver. Then `wait` gives up and the threads are left behind, so a
/// job must own (share) all that it touches.
class WorkerGroup {
 public:
  using Job = std::function<void(int worker_index)>;

  /// `num_workers` 0: one for each core. `timeout`: longest time that one job may take.
  explicit WorkerGroup(int num_workers, std::chrono::milliseconds timeout);
  WorkerGroup(const WorkerGroup&) = delete;
  WorkerGroup& operator=(const WorkerGroup&) = delete;
  WorkerGroup(WorkerGroup&&) = delete;
  WorkerGroup& operator=(WorkerGroup&&) = delete;
  ~WorkerGroup();

  int size() const { return num_workers_; }

  std::chrono::milliseconds timeout() const { return timeout_; }

  /// Runs `job` once on every worker; the one before must have been waited for.
  void start(Job job);
  /// Rethrows what the first failing worker threw. Errors: `kDevice` when a worker does not end in
  /// time; the group is of no use after that.
  void wait();

  void run(Job job) {
    start(std::move(job));
    wait();
  }

  /// Ends what is running, whatever it threw, and runs `job` once more, for giving back what is
  /// bound to the workers' threads. False when that failed: a worker hangs or `job` threw.
  bool finish(Job job) noexcept;

 private:
  struct Shared;

  int num_workers_;
  std::chrono::milliseconds timeout_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace frostline::eval
