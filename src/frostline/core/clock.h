#pragma once

#include <atomic>
#include <cstdint>

namespace frostline {

/// Monotonic time in ns; every time stamp of a run comes from one clock. Thread-safe.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  Clock(Clock&&) = delete;
  Clock& operator=(Clock&&) = delete;
  virtual ~Clock() = default;

  virtual std::int64_t now_ns() const = 0;

  /// The process-wide steady clock.
  static const Clock& steady();
};

/// A clock that moves only when told, for tests. Thread-safe.
class ManualClock final : public Clock {
 public:
  std::int64_t now_ns() const override { return now_ns_.load(); }

  void advance_ns(std::int64_t delta_ns) { now_ns_.fetch_add(delta_ns); }

 private:
  std::atomic<std::int64_t> now_ns_{0};
};

inline double seconds(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

}  // namespace frostline
