#include "frostline/pipeline/ordered_ring.h"

#include <atomic>
#include <chrono>
#include <stdexcept>

#include <gtest/gtest.h>

namespace frostline::pipeline {
namespace {

TEST(OrderedRing, DeliversInOrderWithinItsBoundWhateverTheWorkersDo) {
  std::atomic<std::int64_t> begun{0};
  std::atomic<std::int64_t> consumed{0};
  std::atomic<std::int64_t> most_ahead{0};
  OrderedRing<std::int64_t> ring({0, 0, 0}, 3, [&](std::int64_t step, std::int64_t& entry) {
    const auto ahead = ++begun - consumed.load();
    auto seen = most_ahead.load();
    while (ahead > seen && !most_ahead.compare_exchange_weak(seen, ahead)) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds((step * 7919) % 300));
    entry = step * 10;
  });
  ring.start(5, 500);
  for (std::int64_t expected = 5; expected < 505; ++expected) {
    ring.consume([&](std::int64_t step, std::int64_t entry) {
      EXPECT_EQ(step, expected);
      EXPECT_EQ(entry, expected * 10);
      ++consumed;
    });
  }
  // One more than the entries: `consumed` here lags behind the ring's own count by one.
  EXPECT_LE(most_ahead.load(), 4);
}

TEST(OrderedRing, WorkerExceptionReachesTheConsumer) {
  OrderedRing<int> ring({0, 0}, 2, [](std::int64_t step, int&) {
    if (step == 3) {
      throw std::runtime_error("decoder broke");
    }
  });
  ring.start(0, 10);
  EXPECT_THROW(
      {
        for (int i = 0; i < 10; ++i) {
          ring.consume([](std::int64_t, int) {});
        }
      },
      std::runtime_error);
}

TEST(OrderedRing, IsDestroyedWhileWorkersWait) {
  OrderedRing<int> ring({0, 0}, 4, [](std::int64_t, int&) {});
  ring.start(0, 1'000'000);
  ring.consume([](std::int64_t, int) {});
}

TEST(OrderedRing, SecondStartIsRefused) {
  OrderedRing<int> ring({0}, 1, [](std::int64_t, int&) {});
  ring.start(0, 1);
  EXPECT_THROW(ring.start(0, 1), Error);
}

}  // namespace
}  // namespace frostline::pipeline
