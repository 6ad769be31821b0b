#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/data/dataset.h"
#include "frostline/eval/record.h"
#include "frostline/sim/environment.h"

namespace frostline::eval {
namespace {

constexpr const char* kTask = "aloha_transfer_cube";

TEST(RecordDataset, RecordedEpisodeIsReadBackAsTheExpertPlayedIt) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("frostline_record_dataset_" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  RecordOptions options;
  options.num_episodes = 1;
  options.height_px = 24;
  options.width_px = 32;
  options.codec = "raw";
  const RecordReport report = record(kTask, options, folder);
  EXPECT_EQ(report.num_frames, 400);
  ASSERT_EQ(report.manifest.episodes.size(), 1U);
  EXPECT_EQ(report.manifest.episodes[0].env_seed, 100000U);
  EXPECT_GE(report.manifest.episodes[0].first_success_step, 289);
  EXPECT_LE(report.manifest.episodes[0].first_success_step, 291);

  const auto dataset = data::open_dataset(folder);
  EXPECT_TRUE(dataset->verify().empty());
  EXPECT_EQ(dataset->info().fps, 50);
  EXPECT_EQ(dataset->info().num_episodes, 1);
  ASSERT_EQ(dataset->info().num_frames, 400);
  const auto states = dataset->column("observation.state").data<float>();
  const auto actions = dataset->column("action").data<float>();

  const auto environment = sim::create_environment(kTask);
  const auto renderer =
      sim::create_renderer(kTask, {.camera = "top", .height_px = 24, .width_px = 32});
  environment->reset(100000);
  std::vector<float> state(14);
  std::vector<std::uint8_t> drawn(24 * 32 * 3);
  std::vector<std::uint8_t> stored(drawn.size());
  bool is_success = false;
  for (std::size_t step = 0; step < 400; ++step) {
    environment->observe(state);
    for (std::size_t i = 0; i < state.size(); ++i) {
      ASSERT_EQ(states[step * 14 + i], state[i]) << "step " << step;
    }
    if (step % 50 == 0) {
      renderer->render(*environment, drawn);
      dataset->read_image("observation.images.top", {0, static_cast<std::int64_t>(step)}, stored);
      ASSERT_EQ(stored, drawn) << "step " << step;
    }
    is_success = environment->step(actions.subspan(step * 14, 14)).is_success;
  }
  EXPECT_TRUE(is_success) << "the stored actions reproduce the demonstration";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace frostline::eval
