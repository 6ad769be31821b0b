#include "tests/conformance/feature_source_suite.h"

#include <chrono>
#include <set>
#include <thread>

#include "tests/support/expect_error.h"

namespace frostline::test {

namespace {

TEST_P(FeatureSourceSuite, GivesTheSameBatchesForEveryWorkerCountAndDepth) {
  const Batches expected = take_batches(*make(1, 1).source, 0, kSteps);
  ASSERT_NE(expected[0], expected[1]);
  for (const auto& [num_workers, depth] : {std::pair{1, 3}, {2, 2}, {3, 5}, {5, 2}}) {
    // Readers of different speed, so that a later batch is ready before an earlier one.
    auto plan = plan_.plan();
    plan.read_image = [](data::FrameId frame, std::span<std::uint8_t> out) {
      std::this_thread::sleep_for(std::chrono::microseconds(frame.frame_index * 7919 % 700));
      read_small_image(frame, out);
    };
    const auto made = GetParam().make({plan, num_workers, depth});
    EXPECT_EQ(take_batches(*made.source, 0, kSteps), expected)
        << "workers=" << num_workers << " depth=" << depth;
  }
}

TEST_P(FeatureSourceSuite, StartedAtAnyStepGivesTheTailOfARunFromZero) {
  const Batches whole = take_batches(*make().source, 0, kSteps);
  for (std::int64_t first = 0; first <= kSteps; ++first) {
    const Batches tail(whole.begin() + first, whole.end());
    EXPECT_EQ(take_batches(*make(2, 3).source, first, kSteps - first), tail) << first;
  }
}

TEST_P(FeatureSourceSuite, BatchHasTheSizeItsSpecStates) {
  const auto made = make();
  ASSERT_FALSE(made.source->spec().empty());
  for (const auto& spec : made.source->spec()) {
    EXPECT_EQ(spec.shape.at(0), plan_.plan().batch_size) << spec.name;
  }
}

TEST_P(FeatureSourceSuite, RefusesBuffersOfAnotherSizeAndLosesNothing) {
  const Batches expected = take_batches(*make().source, 0, 1);
  const auto made = make();
  made.source->start(0, kSteps);
  BatchBuffers buffers(*made.source);
  const std::vector<std::span<std::byte>> right(buffers.views().begin(), buffers.views().end());
  auto fewer = right;
  fewer.pop_back();
  auto more = right;
  more.push_back(right[0]);
  auto smaller = right;
  smaller.back() = smaller.back().first(smaller.back().size() - 1);
  std::vector<std::byte> room(right[0].size() + 1);
  auto larger = right;
  larger[0] = room;
  for (const auto& wrong : {fewer, more, smaller, larger}) {
    expect_error([&] { made.source->next(wrong); }, ErrorCode::kInternal);
  }
  made.source->next(right);
  EXPECT_EQ(buffers.bytes(), expected[0]);
}

TEST_P(FeatureSourceSuite, SecondStartIsRefused) {
  const auto made = make();
  made.source->start(0, kSteps);
  expect_error([&] { made.source->start(0, kSteps); }, ErrorCode::kUsage, {"already started"});
}

TEST_P(FeatureSourceSuite, GivesNoMoreThanItWasStartedFor) {
  const auto unstarted = make();
  BatchBuffers buffers(*unstarted.source);
  expect_error([&] { unstarted.source->next(buffers.views()); }, ErrorCode::kInternal);
  const auto made = make();
  take_batches(*made.source, 4, 3);
  expect_error([&] { made.source->next(buffers.views()); }, ErrorCode::kInternal);
}

TEST_P(FeatureSourceSuite, IsDestroyedWhileWorking) {
  make();
  for (const int taken : {0, 1, 4}) {
    const auto made = make(3, 4);
    made.source->start(0, 1'000'000);
    BatchBuffers buffers(*made.source);
    for (int i = 0; i < taken; ++i) {
      made.source->next(buffers.views());
    }
  }
}

TEST_P(FeatureSourceSuite, ErrorOfAReaderReachesNext) {
  if (!GetParam().reads_images) {
    GTEST_SKIP() << "this source reads no images while it runs";
  }
  auto plan = plan_.plan();
  const auto bad = plan.sampler->anchors()[static_cast<std::size_t>(plan.sampler->batch(5, 2)[1])];
  plan.read_image = [bad](data::FrameId frame, std::span<std::uint8_t> out) {
    FROSTLINE_REQUIRE(frame != bad, ErrorCode::kData, "decoder broke", "frame=7");
    read_small_image(frame, out);
  };
  for (const int num_workers : {1, 3}) {
    const auto made = GetParam().make({plan, num_workers, 2});
    made.source->start(0, kSteps);
    BatchBuffers buffers(*made.source);
    expect_error(
        [&] {
          for (std::int64_t step = 0; step < kSteps; ++step) {
            made.source->next(buffers.views());
          }
        },
        ErrorCode::kData,
        {"decoder broke", "frame=7"});
    // And again, for whoever asks once more.
    expect_error([&] { made.source->next(buffers.views()); }, ErrorCode::kData);
  }
}

TEST_P(FeatureSourceSuite, EveryDeliveredBatchHasASpanThatIsGivenOnce) {
  const auto made = make(2, 2);
  take_batches(*made.source, 3, kSteps);
  std::set<std::int64_t> steps;
  for (const auto& span : made.source->take_spans()) {
    EXPECT_FALSE(span.lane.empty());
    EXPECT_FALSE(span.phase.empty());
    EXPECT_LE(span.begin_ns, span.end_ns);
    EXPECT_GT(span.begin_ns, 0);
    steps.insert(span.step);
  }
  EXPECT_EQ(static_cast<std::int64_t>(steps.size()), kSteps);
  EXPECT_EQ(*steps.begin(), 3);
  EXPECT_TRUE(made.source->take_spans().empty());
}

}  // namespace

}  // namespace frostline::test
