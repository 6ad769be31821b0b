#include "frostline/core/bounded_queue.h"

#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

namespace frostline {
namespace {

TEST(BoundedQueue, KeepsOrderAcrossThreads) {
  BoundedQueue<int> queue(3);
  std::jthread producer([&] {
    for (int i = 0; i < 1000; ++i) {
      queue.push(i);
    }
    queue.close();
  });
  int expected = 0;
  while (const auto item = queue.pop()) {
    EXPECT_EQ(*item, expected++);
    EXPECT_LE(queue.size(), 3U);
  }
  EXPECT_EQ(expected, 1000);
}

TEST(BoundedQueue, FailureReachesTheWaitingConsumer) {
  BoundedQueue<int> queue(1);
  std::jthread worker(
      [&] { queue.fail(std::make_exception_ptr(std::runtime_error("decoder broke"))); });
  EXPECT_THROW(queue.pop(), std::runtime_error);
}

TEST(BoundedQueue, PushAfterCloseIsRefused) {
  BoundedQueue<int> queue(1);
  queue.push(1);
  queue.close();
  EXPECT_FALSE(queue.push(2));
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), std::nullopt);
}

}  // namespace
}  // namespace frostline
