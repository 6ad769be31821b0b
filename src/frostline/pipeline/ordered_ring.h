#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "frostline/core/error.h"

namespace frostline::pipeline {

/// Lets workers prepare steps ahead of one consumer that takes them strictly in order.
///
/// Step s uses entry s modulo the number of entries and is begun only once step s - entries was
/// consumed, so memory is bounded and a later step can never starve an earlier one. A worker's
/// exception is rethrown by `consume`. Threads: `start` and `consume` by one thread.
template <class Entry>
class OrderedRing {
 public:
  using Produce = std::function<void(std::int64_t step, Entry& entry)>;

  OrderedRing(std::vector<Entry> entries, int num_workers, Produce produce)
      : entries_(std::move(entries)),
        ready_step_(entries_.size(), -1),
        num_workers_(num_workers),
        produce_(std::move(produce)) {
    FROSTLINE_CHECK(!entries_.empty() && num_workers_ > 0);
  }

  OrderedRing(const OrderedRing&) = delete;
  OrderedRing& operator=(const OrderedRing&) = delete;
  OrderedRing(OrderedRing&&) = delete;
  OrderedRing& operator=(OrderedRing&&) = delete;

  ~OrderedRing() {
    for (auto& worker : workers_) {
      worker.request_stop();
    }
    changed_.notify_all();
  }

  void start(std::int64_t first_step, std::int64_t num_steps) {
    FROSTLINE_REQUIRE(workers_.empty(), ErrorCode::kUsage, "source was already started", "");
    claimed_ = first_step;
    consumed_ = first_step;
    end_ = first_step + num_steps;
    for (int i = 0; i < num_workers_; ++i) {
      workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
  }

  /// Waits for the next step and hands its entry to `use(step, entry)`.
  template <class Use>
  void consume(Use&& use) {
    std::unique_lock lock(mutex_);
    FROSTLINE_CHECK(consumed_ < end_);
    const std::int64_t step = consumed_;
    changed_.wait(lock, [&] { return error_ || ready_step_[index(step)] == step; });
    if (error_) {
      std::rethrow_exception(error_);
    }
    lock.unlock();
    std::forward<Use>(use)(step, entries_[index(step)]);
    lock.lock();
    ++consumed_;
    changed_.notify_all();
  }

 private:
  std::size_t index(std::int64_t step) const {
    return static_cast<std::size_t>(step) % entries_.size();
  }

  void work(const std::stop_token& stop) {
    for (;;) {
      std::int64_t step = 0;
      {
        std::unique_lock lock(mutex_);
        if (claimed_ >= end_ || error_) {
          return;
        }
        step = claimed_++;
        const auto num_entries = static_cast<std::int64_t>(entries_.size());
        if (!changed_.wait(lock, stop, [&] { return step < consumed_ + num_entries; })) {
          return;
        }
      }
      try {
        produce_(step, entries_[index(step)]);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        error_ = std::current_exception();
        changed_.notify_all();
        return;
      }
      const std::lock_guard lock(mutex_);
      ready_step_[index(step)] = step;
      changed_.notify_all();
    }
  }

  std::vector<Entry> entries_;
  std::vector<std::int64_t> ready_step_;
  const int num_workers_;
  const Produce produce_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::int64_t claimed_ = 0;
  std::int64_t consumed_ = 0;
  std::int64_t end_ = 0;
  std::exception_ptr error_;
  std::vector<std::jthread> workers_;  // Last: joined before what they use is destroyed.
};

}  // namespace frostline::pipeline
