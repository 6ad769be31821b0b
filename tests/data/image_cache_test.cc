#include "frostline/data/image_cache.h"

#include <array>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/data/fake_dataset.h"

namespace frostline::data {
namespace {

TEST(ImageCache, ReadsEachImageOnceWhileThereIsRoom) {
  const FakeDataset dataset({{0, 10}});
  ImageCache cache(dataset, 1000);
  std::array<std::uint8_t, 12> image{};
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (std::int64_t frame = 0; frame < 10; ++frame) {
      cache.read("camera", {0, frame}, image);
      EXPECT_EQ(image[11], frame);
    }
  }
  EXPECT_EQ(dataset.num_reads, 10);
  EXPECT_EQ(cache.num_hits(), 20);
  EXPECT_EQ(cache.num_misses(), 10);
  EXPECT_EQ(cache.num_bytes(), 120U);
}

TEST(ImageCache, KeepsWhatItHasWhenFull) {
  const FakeDataset dataset({{0, 10}});
  ImageCache cache(dataset, 4 * 12 + 11);
  std::array<std::uint8_t, 12> image{};
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (std::int64_t frame = 0; frame < 10; ++frame) {
      cache.read("camera", {0, frame}, image);
      EXPECT_EQ(image[0], frame);
    }
  }
  EXPECT_EQ(cache.num_bytes(), 48U);
  EXPECT_EQ(cache.num_hits(), 8);
}

TEST(ImageCache, ServesManyThreads) {
  const FakeDataset dataset({{0, 100}});
  ImageCache cache(dataset, 50 * 12);
  std::atomic<int> num_wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        std::array<std::uint8_t, 12> image{};
        for (std::int64_t i = 0; i < 500; ++i) {
          const std::int64_t frame = (i * 37 + thread * 11) % 100;
          cache.read("camera", {0, frame}, image);
          num_wrong += image[5] == frame ? 0 : 1;
        }
      });
    }
  }
  EXPECT_EQ(num_wrong, 0);
  EXPECT_LE(cache.num_bytes(), 600U);
}

}  // namespace
}  // namespace frostline::data
