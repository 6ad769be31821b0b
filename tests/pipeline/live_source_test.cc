#include "frostline/pipeline/live_source.h"

#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "frostline/core/clock.h"
#include "tests/support/expect_error.h"
#include "tests/support/small_plan.h"

namespace frostline::pipeline {
namespace {

using namespace std::chrono_literals;
using test::expect_error;

constexpr std::int64_t kBatch = 2;

TEST(LiveSource, EncodesTheNextBatchBeforeItIsAskedFor) {
  constexpr auto kLatency = 5ms;
  test::SmallPlan plan;
  const auto session = test::open_fake(test::small_artefact(kBatch), 2, {.latency = kLatency});
  LiveSource source(plan.plan(), *session, 1, 20s);
  test::BatchBuffers buffers(source);
  source.start(0, 8);
  std::map<std::int64_t, std::int64_t> asked_ns;
  std::int64_t stall_ns = 0;
  for (std::int64_t step = 0; step < 8; ++step) {
    // What the trainer does with the batch before; long against the device.
    std::this_thread::sleep_for(20 * kLatency);
    asked_ns[step] = Clock::steady().now_ns();
    stall_ns += source.next(buffers.views());
  }
  int num_encoded = 0;
  for (const auto& span : source.take_spans()) {
    if (span.phase == "encode") {
      ++num_encoded;
      EXPECT_LT(span.begin_ns, asked_ns.at(span.step)) << span.step;
      EXPECT_LT(span.end_ns, asked_ns.at(span.step)) << span.step;
    }
  }
  EXPECT_EQ(num_encoded, 8);
  // Without overlap each step would wait for the device.
  EXPECT_LT(stall_ns, std::chrono::nanoseconds(8 * kLatency).count());
}

TEST(LiveSource, WaitingForASlowDeviceIsReportedAsStall) {
  test::SmallPlan plan;
  const auto session = test::open_fake(test::small_artefact(kBatch), 1, {.latency = 20ms});
  LiveSource source(plan.plan(), *session, 1, 20s);
  test::BatchBuffers buffers(source);
  source.start(0, 2);
  EXPECT_GE(source.next(buffers.views()), std::chrono::nanoseconds(15ms).count());
}

TEST(LiveSource, LostDeviceReachesNext) {
  for (const int num_slots : {1, 2, 4}) {
    test::SmallPlan plan;
    const auto session =
        test::open_fake(test::small_artefact(kBatch), num_slots, {.latency = 1ms, .lost_at = 5});
    LiveSource source(plan.plan(), *session, 2, 20s);
    test::BatchBuffers buffers(source);
    source.start(0, 100);
    expect_error(
        [&] {
          for (int i = 0; i < 100; ++i) {
            source.next(buffers.views());
          }
        },
        ErrorCode::kDeviceLost,
        {"device is gone"});
  }
}

TEST(LiveSource, HungRequestPassesItsDeadline) {
  test::SmallPlan plan;
  const auto session = test::open_fake(test::small_artefact(kBatch), 2, {.hang_at = 3});
  LiveSource source(plan.plan(), *session, 1, 50ms);
  test::BatchBuffers buffers(source);
  source.start(0, 100);
  for (int i = 0; i < 3; ++i) {
    source.next(buffers.views());
  }
  expect_error([&] { source.next(buffers.views()); }, ErrorCode::kDevice, {"deadline"});
}

TEST(LiveSource, EncoderForOtherImagesIsRefused) {
  test::SmallPlan plan(kBatch, 8, 6);
  const auto session = test::open_fake(test::small_artefact(kBatch), 2);
  expect_error([&] { LiveSource(plan.plan(), *session, 1, 1s); },
               ErrorCode::kConfig,
               {"[2, 4, 6, 3]", "[2, 8, 6, 3]"});
  test::SmallPlan other_batch(3);
  expect_error([&] { LiveSource(other_batch.plan(), *session, 1, 1s); }, ErrorCode::kConfig);
}

}  // namespace
}  // namespace frostline::pipeline
