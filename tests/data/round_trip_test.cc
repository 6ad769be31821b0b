#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/json.h"
#include "frostline/data/dataset.h"
#include "frostline/data/describe.h"
#include "frostline/data/video/video.h"
#include "tests/data/recording.h"
#include "tests/support/temp_folder.h"

namespace frostline::data {
namespace {

using test::TempFolder;

using ::testing::ElementsAre;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

class RoundTrip : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() != "raw" && !is_video_supported()) {
      GTEST_SKIP() << "built without FFmpeg";
    }
  }
};

/// Mean error of a pixel: none without loss; else what crf 30 at this size gives, doubled.
double allowed_difference(const std::string& codec) {
  return codec == "raw" || codec == "png" ? 0.0 : 4.0;
}

TEST_P(RoundTrip, GivesBackWhatWasRecorded) {
  const TempFolder folder;
  const WriterOptions options = small_options(GetParam());
  record(folder.path() / "set", options, {7, 4, 9});
  const auto dataset = open_dataset(folder.path() / "set");
  EXPECT_THAT(dataset->episodes(), ElementsAre(0, 1, 2));
  EXPECT_EQ(dataset->info().num_frames, 20);
  EXPECT_EQ(dataset->info().fps, 50);
  EXPECT_EQ(dataset->info().cameras.at(0).codec, GetParam());
  EXPECT_THAT(dataset->info().tasks, ElementsAre("lift the cube", "hand over"));
  std::vector<std::uint8_t> image(options.cameras[0].num_bytes());
  for (const std::int64_t episode : {2, 0, 1}) {
    const FrameRange range = dataset->frame_range(episode);
    for (std::int64_t frame = 0; frame < range.length(); ++frame) {
      const auto row = static_cast<std::size_t>(range.begin + frame);
      EXPECT_EQ(dataset->column("observation.state").data<float>()[row * 3 + 2],
                value(episode, frame, 2));
      EXPECT_EQ(dataset->column("action").data<float>()[row * 2 + 1], value(episode, frame, 1));
      EXPECT_EQ(dataset->column("reward").data<float>()[row], value(episode, frame, 0));
      EXPECT_EQ(dataset->column("index").data<float>()[row], static_cast<float>(row));
      dataset->read_image("observation.images.top", {episode, frame}, image);
      EXPECT_LE(mean_difference(image, picture(options.cameras[0], episode, frame)),
                allowed_difference(GetParam()))
          << "episode " << episode << " frame " << frame;
    }
  }
  EXPECT_THAT(dataset->verify(), IsEmpty());
  EXPECT_EQ(describe(*dataset)["frames"], 20);
}

TEST_P(RoundTrip, FindsTheRightPictureInAnyOrderFromManyThreads) {
  const TempFolder folder;
  WriterOptions options = small_options(GetParam());
  options.video_gop = 10;
  record(folder.path() / "set", options, {25, 12});
  const auto dataset = open_dataset(folder.path() / "set");
  std::vector<std::vector<std::uint8_t>> in_order;
  const auto read = [&](std::int64_t at) {
    std::vector<std::uint8_t> image(options.cameras[0].num_bytes());
    const FrameId frame = at < 25 ? FrameId{0, at} : FrameId{1, at - 25};
    dataset->read_image("observation.images.top", frame, image);
    return image;
  };
  for (std::int64_t at = 0; at < 37; ++at) {
    in_order.push_back(read(at));
  }
  std::atomic<int> num_wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::int64_t i = 0; i < 37; ++i) {
          const std::int64_t at = (i * 23 + thread * 5) % 37;
          num_wrong += read(at) == in_order[static_cast<std::size_t>(at)] ? 0 : 1;
        }
      });
    }
  }
  EXPECT_EQ(num_wrong, 0);
}

TEST_P(RoundTrip, WritesTheSameBytesTwice) {
  if (GetParam() == "h264") {
    GTEST_SKIP() << "x264 was seen to give other bytes for the same frames, once in some 200 runs";
  }
  const TempFolder folder;
  const WriterOptions options = small_options(GetParam());
  record(folder.path() / "a", options, {12, 5});
  record(folder.path() / "b", options, {12, 5});
  EXPECT_EQ(open_dataset(folder.path() / "a")->fingerprint(),
            open_dataset(folder.path() / "b")->fingerprint());
  record(folder.path() / "c", options, {12, 6});
  EXPECT_NE(open_dataset(folder.path() / "a")->fingerprint(),
            open_dataset(folder.path() / "c")->fingerprint());
}

INSTANTIATE_TEST_SUITE_P(Codecs,
                         RoundTrip,
                         ::testing::Values("raw", "png", "jpeg", "av1", "h264"),
                         [](const auto& codec) { return codec.param; });

TEST(LeRobotWriter, KeepsEpisodesOfOneVideoInOneFile) {
  if (!is_video_supported()) {
    GTEST_SKIP() << "built without FFmpeg";
  }
  const TempFolder folder;
  record(folder.path() / "set", small_options("av1"), {5, 6, 7});
  std::vector<std::string> videos;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path() / "set/videos")) {
    if (entry.is_regular_file()) {
      videos.push_back(entry.path().filename());
    }
  }
  EXPECT_THAT(videos, ElementsAre("file-000.mp4"));
}

TEST(LeRobotWriter, BeginsANewFileWhenTheLastIsFull) {
  const TempFolder folder;
  const WriterOptions options = small_options("raw");
  record(folder.path() / "set", options, {150, 120, 40});  // 18 kB a frame, 4 MB a file.
  EXPECT_TRUE(fs::exists(folder.path() / "set/data/chunk-000/file-001.parquet"));
  EXPECT_FALSE(fs::exists(folder.path() / "set/data/chunk-000/file-002.parquet"));
  const auto dataset = open_dataset(folder.path() / "set");
  std::vector<std::uint8_t> image(options.cameras[0].num_bytes());
  for (const FrameId frame : {FrameId{0, 149}, FrameId{1, 0}, FrameId{2, 39}, FrameId{1, 119}}) {
    dataset->read_image("observation.images.top", frame, image);
    EXPECT_EQ(image, picture(options.cameras[0], frame.episode_index, frame.frame_index));
  }
  EXPECT_THAT(dataset->verify(), IsEmpty());
}

TEST(LeRobotWriter, DropsADiscardedEpisode) {
  const TempFolder folder;
  const WriterOptions options = small_options("raw");
  const auto writer = create_lerobot_writer(folder.path() / "set", options);
  record_episode(*writer, options, 0, 4);
  writer->begin_episode("not this one");
  const std::vector<float> three(3);
  const std::vector<float> two(2);
  const std::vector<float> one(1);
  const auto image = picture(options.cameras[0], 0, 0);
  writer->add_frame({{three, two, one}, {image}});
  writer->discard_episode();
  record_episode(*writer, options, 1, 3);
  writer->finish();
  const auto dataset = open_dataset(folder.path() / "set");
  EXPECT_EQ(dataset->info().num_frames, 7);
  EXPECT_THAT(dataset->info().tasks, ElementsAre("lift the cube", "hand over"));
  EXPECT_THROW(writer->begin_episode("after the end"), Error);
}

TEST(LeRobotWriter, RefusesBadFrames) {
  const TempFolder folder;
  const WriterOptions options = small_options("raw");
  const auto writer = create_lerobot_writer(folder.path() / "set", options);
  writer->begin_episode("task");
  const std::vector<float> three{0, NAN, 0};
  const std::vector<float> two(2);
  const std::vector<float> one(1);
  const auto image = picture(options.cameras[0], 0, 0);
  const auto code_of = [&](const FrameData& frame) {
    try {
      writer->add_frame(frame);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::kInternal;
  };
  EXPECT_EQ(code_of({{three, two, one}, {image}}), ErrorCode::kNumeric);
  EXPECT_EQ(code_of({{two, two, one}, {image}}), ErrorCode::kUsage);
  EXPECT_EQ(code_of({{two, two}, {image}}), ErrorCode::kUsage);
  EXPECT_EQ(code_of({{three, two, one}, {}}), ErrorCode::kUsage);
  EXPECT_THROW(writer->end_episode(), Error);
  EXPECT_THROW(writer->finish(), Error);
}

TEST(LeRobotWriter, RefusesAFolderInUse) {
  const TempFolder folder;
  record(folder.path() / "set", small_options("raw"), {3});
  try {
    create_lerobot_writer(folder.path() / "set", small_options("raw"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("already holds a finished data set"));
  }
  EXPECT_THROW(create_lerobot_writer(folder.path(), small_options("raw")), Error);
  try {
    create_lerobot_writer(folder.path() / "other", small_options("theora"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  }
}

}  // namespace
}  // namespace frostline::data
