#include <algorithm>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/file.h"
#include "frostline/core/json.h"
#include "frostline/data/dataset.h"
#include "frostline/data/video/video.h"
#include "tests/data/recording.h"
#include "tests/support/temp_folder.h"

namespace frostline::data {
namespace {

using test::TempFolder;

namespace fs = std::filesystem;

std::string codec() {
  return is_video_supported() ? "av1" : "raw";
}

/// Records in a child until it is killed by SIGKILL after `delay_us`.
void record_and_kill(const fs::path& root, useconds_t delay_us) {
  const pid_t child = ::fork();
  if (child == 0) {
    const WriterOptions options = small_options(codec());
    const auto writer = create_lerobot_writer(root, options);
    for (std::int64_t episode = 0;; ++episode) {
      record_episode(*writer, options, episode, 6);
    }
  }
  ::usleep(delay_us);
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the recorder ended by itself";
}

void expect_readable(const Dataset& dataset, std::int64_t episode_value_of(std::int64_t)) {
  const Camera& camera = dataset.info().cameras.at(0);
  std::vector<std::uint8_t> image(camera.num_bytes());
  for (const std::int64_t episode : dataset.episodes()) {
    const std::int64_t length = dataset.frame_range(episode).length();
    for (const std::int64_t frame : {std::int64_t{0}, length - 1}) {
      dataset.read_image(camera.name, {episode, frame}, image);
      EXPECT_LE(mean_difference(image, picture(camera, episode_value_of(episode), frame)), 4.0);
    }
  }
}

TEST(KilledRecording, KeepsEveryFinishedEpisodeAndGoesOn) {
  std::int64_t num_kept = 0;
  for (const useconds_t delay_us : {150'000U, 263'000U, 377'000U, 491'000U}) {
    const TempFolder folder;
    const fs::path root = folder.path() / "set";
    record_and_kill(root, delay_us);
    std::int64_t num_finished = 0;
    if (fs::exists(root / "meta/episodes")) {
      const auto dataset = open_dataset(root);
      num_finished = dataset->info().num_episodes;
      expect_readable(*dataset, [](std::int64_t episode) { return episode; });
    }
    num_kept += num_finished;
    {
      const WriterOptions options = small_options(codec());
      const auto writer = create_lerobot_writer(root, options);
      record_episode(*writer, options, num_finished, 9);
      writer->finish();
    }
    const auto dataset = open_dataset(root);
    EXPECT_EQ(dataset->info().num_episodes, num_finished + 1);
    EXPECT_EQ(dataset->frame_range(num_finished).length(), 9);
    EXPECT_EQ(dataset->statistics("action").count, num_finished * 6 + 9);
    expect_readable(*dataset, [](std::int64_t episode) { return episode; });
    for (const Finding& finding : verify_dataset(root)) {
      ADD_FAILURE() << finding.code << " " << finding.message;
    }
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      EXPECT_THAT(entry.path().string(), ::testing::Not(::testing::HasSubstr("partial")));
    }
  }
  EXPECT_GT(num_kept, 0);
}

/// A kill between the rows of an episode and its line in meta/episodes, or before info.json.
TEST(KilledRecording, SurvivesAKillBetweenAnyTwoFiles) {
  const TempFolder folder;
  const fs::path root = folder.path() / "set";
  const WriterOptions options = small_options("raw");
  const auto writer = create_lerobot_writer(root, options);
  record_episode(*writer, options, 0, 5);
  fs::copy(root, folder.path() / "before", fs::copy_options::recursive);
  record_episode(*writer, options, 1, 4);
  const std::vector<std::string> order{"data/chunk-000/file-000.parquet",
                                       "meta/tasks.parquet",
                                       "meta/episodes/chunk-000/file-000.parquet",
                                       "meta/stats.json"};
  for (std::size_t num_written = 0; num_written <= order.size(); ++num_written) {
    const fs::path cut = folder.path() / ("cut" + std::to_string(num_written));
    fs::copy(folder.path() / "before", cut, fs::copy_options::recursive);
    for (std::size_t i = 0; i < num_written; ++i) {
      fs::copy_file(root / order[i], cut / order[i], fs::copy_options::overwrite_existing);
    }
    const std::int64_t expected = num_written >= 3 ? 2 : 1;
    EXPECT_EQ(open_dataset(cut)->info().num_episodes, expected);
    const auto resumed = create_lerobot_writer(cut, options);
    record_episode(*resumed, options, 7, 3);
    resumed->finish();
    const auto dataset = open_dataset(cut);
    EXPECT_EQ(dataset->info().num_episodes, expected + 1);
    EXPECT_EQ(dataset->column("action").data<float>().back(), value(7, 2, 1));
    EXPECT_EQ(dataset->column("index").data<float>().back(),
              static_cast<float>(dataset->info().num_frames - 1));
    EXPECT_TRUE(verify_dataset(cut).empty());
  }
}

TEST(KilledRecording, IsNamedByVerifyAndRefusesOtherOptions) {
  const TempFolder folder;
  const fs::path root = folder.path() / "set";
  {
    const auto writer = create_lerobot_writer(root, small_options("raw"));
    EXPECT_EQ(verify_dataset(root).at(0).code, "no_episodes");
    record_episode(*writer, small_options("raw"), 0, 5);
  }
  const auto findings = verify_dataset(root);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, "recording_unfinished");
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  WriterOptions other = small_options("raw");
  other.fps = 30;
  try {
    create_lerobot_writer(root, other);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("other features, cameras or video options"));
  }
}

TEST(KilledRecording, DeletesNothingWhenItsEpisodesAreDamaged) {
  const TempFolder folder;
  const fs::path root = folder.path() / "set";
  {
    const auto writer = create_lerobot_writer(root, small_options("raw"));
    record_episode(*writer, small_options("raw"), 0, 5);
  }
  write_file_atomic(root / "meta/episodes/chunk-000/file-000.parquet", "PAR1");
  try {
    create_lerobot_writer(root, small_options("raw"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("unfinished recording is damaged"));
  }
  EXPECT_TRUE(fs::exists(root / "data/chunk-000/file-000.parquet"));
}

}  // namespace
}  // namespace frostline::data
