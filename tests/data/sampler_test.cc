#include "frostline/data/sampler.h"

#include <algorithm>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/fake_dataset.h"

namespace frostline::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::int64_t> all_of(const Sampler& sampler, std::int64_t steps, std::int64_t size) {
  std::vector<std::int64_t> order;
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto batch = sampler.batch(step, size);
    order.insert(order.end(), batch.begin(), batch.end());
  }
  return order;
}

TEST(Sampler, ListsAnchorsInDataSetOrderAndByIndexValue) {
  const FakeDataset dataset({{1, 2}, {5, 5}, {9, 3}});
  const std::int64_t episodes[] = {9, 5};
  const Sampler sampler(dataset, episodes, 2, 1);
  EXPECT_THAT(
      sampler.anchors(),
      ElementsAre(FrameId{5, 0}, FrameId{5, 2}, FrameId{5, 4}, FrameId{9, 0}, FrameId{9, 2}));
}

TEST(Sampler, VisitsEveryAnchorOncePerEpochWhenBatchesCrossEpochs) {
  const FakeDataset dataset({{0, 7}, {1, 6}});
  const Sampler sampler(dataset, dataset.episodes(), 1, 3);
  const auto order = all_of(sampler, 13, 4);  // 52 = 4 epochs of 13.
  for (int epoch = 0; epoch < 4; ++epoch) {
    const std::set<std::int64_t> seen(order.begin() + epoch * 13, order.begin() + (epoch + 1) * 13);
    EXPECT_EQ(seen.size(), 13U) << "epoch " << epoch;
  }
  EXPECT_FALSE(std::equal(order.begin(), order.begin() + 13, order.begin() + 13));
}

TEST(Sampler, GivesAnyStepWithoutReplay) {
  const FakeDataset dataset({{0, 7}, {1, 6}});
  const Sampler replayed(dataset, dataset.episodes(), 1, 3);
  const auto order = all_of(replayed, 40, 5);
  for (const std::int64_t step : {39, 2, 21, 0, 38, 3}) {
    const Sampler fresh(dataset, dataset.episodes(), 1, 3);
    const std::vector<std::int64_t> expected(order.begin() + step * 5,
                                             order.begin() + step * 5 + 5);
    EXPECT_EQ(fresh.batch(step, 5), expected) << "step " << step;
    EXPECT_EQ(replayed.batch(step, 5), expected) << "step " << step;
  }
}

TEST(Sampler, DependsOnTheSeed) {
  const FakeDataset dataset({{0, 40}});
  EXPECT_NE(Sampler(dataset, dataset.episodes(), 1, 3).batch(0, 40),
            Sampler(dataset, dataset.episodes(), 1, 4).batch(0, 40));
}

TEST(Sampler, GivesTheSameOrderToManyThreads) {
  const FakeDataset dataset({{0, 50}});
  const Sampler sampler(dataset, dataset.episodes(), 1, 3);
  const auto expected = all_of(Sampler(dataset, dataset.episodes(), 1, 3), 60, 8);
  std::atomic<int> num_wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::int64_t i = 0; i < 60; ++i) {
          const std::int64_t step = (i * 7 + thread * 13) % 60;
          const auto batch = sampler.batch(step, 8);
          num_wrong += std::equal(batch.begin(), batch.end(), expected.begin() + step * 8) ? 0 : 1;
        }
      });
    }
  }
  EXPECT_EQ(num_wrong, 0);
}

TEST(Sampler, RefusesWhatItCannotSample) {
  const FakeDataset dataset({{3, 4}});
  const auto text_of = [&](std::vector<std::int64_t> episodes, std::int64_t stride) {
    try {
      const Sampler sampler(dataset, episodes, stride, 0);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(text_of({}, 1), HasSubstr("no frame to train on"));
  EXPECT_THAT(text_of({0}, 1), HasSubstr("no such episode"));
  EXPECT_THAT(text_of({3, 3}, 1), HasSubstr("selected twice: episode=3"));
  EXPECT_THAT(text_of({3}, 0), HasSubstr("stride=0"));
}

}  // namespace
}  // namespace frostline::data
