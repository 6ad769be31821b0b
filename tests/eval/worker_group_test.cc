#include "frostline/eval/worker_group.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "frostline/core/error.h"

namespace frostline::eval {
namespace {

using std::chrono::milliseconds;

TEST(WorkerGroup, RunsEveryJobOnceOnEveryWorker) {
  WorkerGroup workers(3, std::chrono::seconds(10));
  const auto counts = std::make_shared<std::vector<int>>(3);
  for (int i = 0; i < 100; ++i) {
    workers.run([counts](int worker) { ++(*counts)[static_cast<std::size_t>(worker)]; });
  }
  EXPECT_EQ(*counts, (std::vector<int>{100, 100, 100}));
}

TEST(WorkerGroup, WaitRethrowsAndTheGroupStaysUsable) {
  WorkerGroup workers(2, std::chrono::seconds(10));
  workers.start([](int worker) {
    if (worker == 1) {
      throw std::runtime_error("worker 1");
    }
  });
  EXPECT_THROW(workers.wait(), std::runtime_error);
  EXPECT_NO_THROW(workers.run([](int) {}));
}

TEST(WorkerGroup, WaitGivesUpOnAHungWorkerAndDoesNotBlockTheEnd) {
  const auto is_released = std::make_shared<std::atomic<bool>>(false);
  {
    WorkerGroup workers(2, milliseconds(30));
    workers.start([is_released](int worker) {
      while (worker == 0 && !*is_released) {
        std::this_thread::sleep_for(milliseconds(1));
      }
    });
    try {
      workers.wait();
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kDevice);
      EXPECT_NE(std::string(error.what()).find("still_busy=1"), std::string::npos);
    }
    EXPECT_FALSE(workers.finish([](int) {}));
  }
  *is_released = true;
}

TEST(WorkerGroup, FinishRunsTheJobThoughTheOneBeforeFailed) {
  WorkerGroup workers(2, std::chrono::seconds(10));
  workers.start([](int) { throw std::runtime_error("failed"); });
  const auto count = std::make_shared<std::atomic<int>>(0);
  EXPECT_TRUE(workers.finish([count](int) { ++*count; }));
  EXPECT_EQ(*count, 2);
}

}  // namespace
}  // namespace frostline::eval
