#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/sim/environment.h"

namespace frostline::sim {
namespace {

using testing::HasSubstr;

constexpr const char* kTask = "aloha_transfer_cube";
constexpr int kHeight_px = 60;
constexpr int kWidth_px = 80;

using Image = std::vector<std::uint8_t>;

RenderOptions small_top_view() {
  return {.camera = "top", .height_px = kHeight_px, .width_px = kWidth_px};
}

Image draw(Renderer& renderer, const Environment& environment) {
  Image image(static_cast<std::size_t>(kHeight_px * kWidth_px * 3));
  renderer.render(environment, image);
  return image;
}

/// Mean place of red pixels as (row, column); negative when there are none.
std::array<double, 2> red_centre(const Image& image) {
  double rows = 0;
  double columns = 0;
  int count = 0;
  for (int y = 0; y < kHeight_px; ++y) {
    for (int x = 0; x < kWidth_px; ++x) {
      const std::uint8_t* pixel = &image[static_cast<std::size_t>((y * kWidth_px + x) * 3)];
      if (pixel[0] > 100 && pixel[1] < 80 && pixel[2] < 80) {
        rows += y;
        columns += x;
        ++count;
      }
    }
  }
  if (count == 0) {
    return {-1, -1};
  }
  return {rows / count, columns / count};
}

TEST(Renderer, ShowsTheCubeInRgbWithTheTopRowFirst) {
  const auto environment = create_environment(kTask);
  const auto renderer = create_renderer(kTask, small_top_view());
  // Seed 0 and 1000: x 0.110 and 0.131, y 0.543 and 0.423. The camera looks down, y points up.
  environment->reset(0);
  const auto far = red_centre(draw(*renderer, *environment));
  environment->reset(1000);
  const auto near = red_centre(draw(*renderer, *environment));
  ASSERT_GT(far[0], 0) << "no red pixel: channels swapped or nothing drawn";
  ASSERT_GT(near[0], 0);
  EXPECT_GT(near[0], far[0] + 2) << "the image is upside down";
  EXPECT_GT(near[1], far[1]);
  EXPECT_GT(far[1], kWidth_px / 2);
}

TEST(Renderer, SameStateGivesTheSameBytesOnEveryThread) {
  const auto actions = create_expert(kTask)->plan(2);
  const auto environment = create_environment(kTask);
  environment->reset(2);
  std::vector<Snapshot> snapshots;
  std::vector<Image> expected;
  const auto renderer = create_renderer(kTask, small_top_view());
  for (std::size_t i = 0; i < 60; ++i) {
    environment->step(actions[i]);
    if (i % 20 == 19) {
      snapshots.push_back(environment->save());
      expected.push_back(draw(*renderer, *environment));
    }
  }
  EXPECT_NE(expected.front(), expected.back());

  std::array<std::vector<Image>, 2> drawn;
  std::array<std::exception_ptr, 2> errors;
  std::vector<std::thread> threads;
  for (std::size_t worker = 0; worker < drawn.size(); ++worker) {
    threads.emplace_back([&, worker] {
      try {
        const auto own = create_environment(kTask);
        const auto own_renderer = create_renderer(kTask, small_top_view());
        for (const Snapshot& snapshot : snapshots) {
          own->restore(snapshot);
          drawn[worker].push_back(draw(*own_renderer, *own));
        }
      } catch (...) {
        errors[worker] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::size_t worker = 0; worker < drawn.size(); ++worker) {
    if (errors[worker]) {
      std::rethrow_exception(errors[worker]);
    }
    EXPECT_TRUE(drawn[worker] == expected) << "worker " << worker;
  }
}

TEST(Renderer, DrawingChangesNoState) {
  const auto environment = create_environment(kTask);
  const auto renderer = create_renderer(kTask, small_top_view());
  const Snapshot before = environment->save();
  draw(*renderer, *environment);
  EXPECT_EQ(environment->save(), before);
}

TEST(Renderer, ShadowsAndSamplesChangeTheImageAndTheVersion) {
  const auto environment = create_environment(kTask);
  RenderOptions options = small_top_view();
  const auto plain = create_renderer(kTask, options);
  options.has_shadows = true;
  const auto shaded = create_renderer(kTask, options);
  options.has_shadows = false;
  options.num_samples = 4;
  const auto smooth = create_renderer(kTask, options);
  const Image image = draw(*plain, *environment);
  EXPECT_NE(draw(*shaded, *environment), image);
  EXPECT_NE(draw(*smooth, *environment), image);
  EXPECT_EQ(draw(*plain, *environment), image) << "renderers on one thread disturb each other";
  EXPECT_NE(shaded->version(), plain->version());
  EXPECT_NE(smooth->version(), plain->version());
  EXPECT_THAT(plain->version(), HasSubstr("OpenGL"));
  EXPECT_THAT(plain->version(), HasSubstr("MuJoCo"));
}

TEST(Renderer, UnknownCameraIsRefusedWithTheKnownOnes) {
  RenderOptions options = small_top_view();
  options.camera = "tpo";
  try {
    create_renderer(kTask, options);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("camera=tpo"));
    EXPECT_THAT(error.what(), HasSubstr("front_close"));
  }
}

TEST(Renderer, AllCamerasOfTheTaskCanBeDrawn) {
  const auto environment = create_environment(kTask);
  for (const std::string& camera : environment->task().cameras) {
    RenderOptions options = small_top_view();
    options.camera = camera;
    const Image image = draw(*create_renderer(kTask, options), *environment);
    EXPECT_TRUE(std::any_of(image.begin(), image.end(), [](auto value) { return value > 50; }))
        << camera;
  }
}

TEST(Renderer, BufferOfAnotherSizeIsRefused) {
  const auto environment = create_environment(kTask);
  const auto renderer = create_renderer(kTask, small_top_view());
  Image image(10);
  try {
    renderer->render(*environment, image);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("needed=14400"));
  }
}

}  // namespace
}  // namespace frostline::sim
