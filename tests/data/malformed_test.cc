#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/file.h"
#include "frostline/core/json.h"
#include "frostline/data/dataset.h"
#include "frostline/data/describe.h"
#include "frostline/data/video/video.h"
#include "tests/data/recording.h"
#include "tests/support/temp_folder.h"

namespace frostline::data {
namespace {

using test::TempFolder;

using ::testing::AllOf;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

/// Records one small set for all tests; each works on its own copy.
class Malformed : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    original_ = std::make_unique<TempFolder>();
    record(original_->path() / "set", small_options(is_video_supported() ? "av1" : "raw"), {7, 4});
  }

  static void TearDownTestSuite() { original_.reset(); }

  void SetUp() override {
    root_ = folder_.path() / "set";
    fs::copy(original_->path() / "set", root_, fs::copy_options::recursive);
  }

  void change_info(const std::function<void(Json&)>& change) const {
    Json info = read_json(root_ / "meta/info.json");
    change(info);
    write_json(root_ / "meta/info.json", info);
  }

  /// Expects that opening fails with kData and that verify has a finding of this code.
  void expect_refused(const std::string& code, const std::vector<std::string>& words) const {
    std::string text;
    try {
      open_dataset(root_);
      ADD_FAILURE() << "opened";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kData);
      text = error.what();
    }
    for (const std::string& word : words) {
      EXPECT_THAT(text, HasSubstr(word));
    }
    std::vector<std::string> codes;
    for (const Finding& finding : verify_dataset(root_)) {
      codes.push_back(finding.code);
      EXPECT_FALSE(finding.remedy.empty());
      EXPECT_FALSE(finding.file.empty());
    }
    EXPECT_THAT(codes, ::testing::Contains(code));
  }

  TempFolder folder_;
  fs::path root_;
  static std::unique_ptr<TempFolder> original_;
};

std::unique_ptr<TempFolder> Malformed::original_;

TEST_F(Malformed, NothingIsWrongWithTheOriginal) {
  EXPECT_TRUE(verify_dataset(root_).empty());
  EXPECT_EQ(describe(verify_dataset(root_)).dump(), R"({"findings":[]})");
}

TEST_F(Malformed, MissingPathsAreNamed) {
  try {
    open_dataset(folder_.path() / "nowhere");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_THAT(error.what(), HasSubstr("nowhere"));
  }
  EXPECT_THROW(open_dataset(root_ / "meta/info.json"), Error);
  root_ /= "data";
  expect_refused("missing_file", {"no LeRobot data set", "info.json"});
}

TEST_F(Malformed, MissingDataFileNamesTheEpisodesThatNeedIt) {
  fs::remove(root_ / "data/chunk-000/file-000.parquet");
  expect_refused("missing_file",
                 {"data file is missing", "2 episodes: 0, 1", "data/chunk-000/file-000.parquet"});
}

TEST_F(Malformed, MissingMetadataIsNamed) {
  fs::remove(root_ / "meta/tasks.parquet");
  expect_refused("missing_file", {"meta/tasks.parquet"});
}

TEST_F(Malformed, MissingEpisodesAreNamed) {
  fs::remove_all(root_ / "meta/episodes");
  expect_refused("missing_file", {"meta/episodes"});
}

TEST_F(Malformed, MissingStatisticsAreAWarning) {
  fs::remove(root_ / "meta/stats.json");
  const auto findings = verify_dataset(root_);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
  EXPECT_THROW(open_dataset(root_)->statistics("action"), Error);
}

TEST_F(Malformed, MissingOrForeignVideoIsNamed) {
  if (!is_video_supported()) {
    GTEST_SKIP() << "built without FFmpeg";
  }
  const fs::path video = root_ / "videos/observation.images.top/chunk-000/file-000.mp4";
  const std::string whole = read_file(video);
  fs::remove(video);
  expect_refused("missing_file", {"video file is missing", "2 episodes: 0, 1", "file-000.mp4"});
  write_file_atomic(video, std::string_view(whole).substr(0, whole.size() / 2));
  expect_refused("damaged_file", {"file-000.mp4", "2 episodes: 0, 1"});
  VideoEncoder encoder(video,
                       {.codec = "av1", .height_px = 64, .width_px = 96, .fps = 30, .gop = 2});
  for (int frame = 0; frame < 8; ++frame) {
    encoder.add(picture(small_options("av1").cameras[0], 0, frame));
  }
  encoder.finish();
  expect_refused("fps_mismatch", {"video_fps=30 fps=50"});
  expect_refused("video_too_short", {});
}

TEST_F(Malformed, TruncatedParquetIsNamedAtEveryLength) {
  for (const char* file : {"data/chunk-000/file-000.parquet",
                           "meta/episodes/chunk-000/file-000.parquet",
                           "meta/tasks.parquet"}) {
    const std::string whole = read_file(root_ / file);
    for (const std::size_t length :
         {std::size_t{0}, std::size_t{4}, whole.size() / 3, whole.size() - 8, whole.size() - 1}) {
      write_file_atomic(root_ / file, std::string_view(whole).substr(0, length));
      expect_refused("damaged_file", {file, "damaged"});
    }
    write_file_atomic(root_ / file, whole);
  }
}

TEST_F(Malformed, DamagedPagesAreNamed) {
  const fs::path path = root_ / "data/chunk-000/file-000.parquet";
  std::string bytes = read_file(path);
  std::fill(bytes.begin() + 4, bytes.begin() + 200, '\x5a');
  write_file_atomic(path, bytes);
  expect_refused("damaged_file", {"file-000.parquet"});
}

TEST_F(Malformed, BadJsonIsNamed) {
  const std::string whole = read_file(root_ / "meta/info.json");
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, whole.size() / 2}) {
    write_file_atomic(root_ / "meta/info.json", std::string_view(whole).substr(0, length));
    expect_refused("damaged_file", {"info.json"});
  }
  write_file_atomic(root_ / "meta/info.json", "[]");
  expect_refused("damaged_file", {"info.json"});
  write_file_atomic(root_ / "meta/info.json", whole);
  for (const char* key : {"fps", "features", "total_episodes", "data_path"}) {
    change_info([&](Json& info) { info.erase(key); });
    expect_refused("damaged_file", {"info.json", key});
    write_file_atomic(root_ / "meta/info.json", whole);
  }
  write_file_atomic(root_ / "meta/stats.json", "{\"action\": {\"mean\": [\"x\"]}}");
  expect_refused("damaged_file", {"stats.json"});
}

TEST_F(Malformed, OtherVersionsAreRefusedWithWhatToDo) {
  change_info([](Json& info) { info["codebase_version"] = "v2.1"; });
  expect_refused("old_version", {"v2.1", "convert"});
  change_info([](Json& info) { info["codebase_version"] = "v4.0"; });
  expect_refused("newer_version", {"v4.0", "newer release"});
  change_info([](Json& info) { info["codebase_version"] = 3; });
  expect_refused("damaged_file", {"info.json"});
  change_info([](Json& info) { info.erase("codebase_version"); });
  expect_refused("unknown_version", {"codebase_version"});
}

TEST_F(Malformed, CountsThatDisagreeAreNamed) {
  change_info([](Json& info) { info["total_frames"] = 12; });
  expect_refused("counts_disagree", {"episodes=2 frames=12", "episodes=2 frames=11"});
}

TEST_F(Malformed, FpsOfVideoAndDataSetHaveToAgree) {
  if (!is_video_supported()) {
    GTEST_SKIP() << "built without FFmpeg";
  }
  change_info([](Json& info) { info["fps"] = 30; });
  expect_refused("fps_mismatch", {"video_fps=50 fps=30"});
  change_info([](Json& info) { info["fps"] = 0; });
  expect_refused("bad_fps", {"fps=0"});
}

TEST_F(Malformed, ShapesHaveToAgree) {
  change_info([](Json& info) { info["features"]["action"]["shape"] = {5}; });
  expect_refused("bad_shape", {"feature=action width=2 shape=[5]"});
}

TEST_F(Malformed, NullNamesAndUnknownKeysAreAccepted) {
  change_info([](Json& info) {
    info["features"]["action"]["names"] = nullptr;
    info["something_new"] = {1, 2};
    info["robot_type"] = nullptr;
  });
  EXPECT_EQ(open_dataset(root_)->info().num_episodes, 2);
}

TEST_F(Malformed, UnknownNamesListTheKnownOnes) {
  const auto dataset = open_dataset(root_);
  std::vector<std::uint8_t> image(dataset->info().cameras[0].num_bytes());
  const auto text_of = [](const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(text_of([&] { dataset->read_image("wrist", {0, 0}, image); }),
              AllOf(HasSubstr("camera=wrist"), HasSubstr("observation.images.top")));
  EXPECT_THAT(text_of([&] { dataset->column("effort"); }),
              AllOf(HasSubstr("feature=effort"), HasSubstr("observation.state")));
  EXPECT_THAT(text_of([&] { dataset->frame_range(5); }),
              AllOf(HasSubstr("episode=5"), HasSubstr("2 episodes: 0, 1")));
  EXPECT_THAT(text_of([&] { dataset->read_image("observation.images.top", {1, 4}, image); }),
              HasSubstr("frame=4 length=4"));
  image.pop_back();
  EXPECT_THAT(text_of([&] { dataset->read_image("observation.images.top", {1, 0}, image); }),
              HasSubstr("buffer has another size"));
}

}  // namespace
}  // namespace frostline::data
