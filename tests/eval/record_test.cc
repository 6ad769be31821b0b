#include "frostline/eval/record.h"

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_task.h"
#include "frostline/core/error.h"
#include "frostline/core/shutdown.h"

namespace frostline::eval {
namespace {

using ::testing::ElementsAre;
using testing::FakeEnvironment;
using testing::FakeFaults;
using testing::FakeRenderer;
using ::testing::HasSubstr;
using testing::kImageSize_px;

/// Steps of a quarter, so that success comes with the fourth action; some seeds stand still.
class FakeExpert final : public sim::Expert {
 public:
  explicit FakeExpert(std::set<std::uint64_t> failing) : failing_(std::move(failing)) {}

  std::vector<std::vector<float>> plan(std::uint64_t seed) override {
    return std::vector<std::vector<float>>(5, {failing_.contains(seed) ? 0.0F : 0.25F});
  }

 private:
  std::set<std::uint64_t> failing_;
};

struct StoredFrame {
  float state = 0;
  float action = 0;
  std::vector<std::uint8_t> image;

  friend bool operator==(const StoredFrame&, const StoredFrame&) = default;
};

/// What a data set folder would hold; outlives the writers.
struct Store {
  std::vector<std::vector<StoredFrame>> episodes;
  bool is_finished = false;
  std::string task;
  data::WriterOptions options;
  int fails_at_end_of = -1;    ///< Episode whose `end_episode` throws before storing.
  int stops_at_frame_of = -1;  ///< Episode in whose second frame a stop is asked for.
  int num_discarded = 0;
};

class FakeWriter final : public data::DatasetWriter {
 public:
  FakeWriter(std::shared_ptr<Store> store, const data::WriterOptions& options)
      : store_(std::move(store)) {
    store_->options = options;
  }

  std::int64_t num_episodes() const override { return std::ssize(store_->episodes); }

  void begin_episode(const std::string& task) override {
    store_->task = task;
    frames_.clear();
  }

  void add_frame(const data::FrameData& frame) override {
    frames_.push_back({frame.features.at(0)[0],
                       frame.features.at(1)[0],
                       {frame.images.at(0).begin(), frame.images.at(0).end()}});
    if (num_episodes() == store_->stops_at_frame_of && frames_.size() == 2) {
      request_shutdown();
    }
  }

  void end_episode() override {
    if (num_episodes() == store_->fails_at_end_of) {
      throw Error(ErrorCode::kIo, "killed", "before the episode was stored");
    }
    store_->episodes.push_back(frames_);
  }

  void discard_episode() override { ++store_->num_discarded; }

  void finish() override { store_->is_finished = true; }

 private:
  std::shared_ptr<Store> store_;
  std::vector<StoredFrame> frames_;
};

class Record : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("frostline_record_" + std::to_string(getpid()) + "_" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    options_.num_episodes = 3;
    options_.first_seed = 5;
    options_.height_px = kImageSize_px;
    options_.width_px = kImageSize_px;
    options_.codec = "raw";
    options_.num_workers = 2;
  }

  void TearDown() override {
    clear_shutdown_request();
    std::filesystem::remove_all(folder_);
  }

  RecordReport run(const std::shared_ptr<Store>& store) const {
    const auto faults = std::make_shared<FakeFaults>();
    return record(
        RecordParts{
            .create_environment = [faults] { return std::make_unique<FakeEnvironment>(faults); },
            .create_expert = [this] { return std::make_unique<FakeExpert>(failing_); },
            .create_renderer =
                [faults](const std::string&) { return std::make_unique<FakeRenderer>(faults); },
            .create_writer =
                [store](const std::filesystem::path&, const data::WriterOptions& options) {
                  return std::make_unique<FakeWriter>(store, options);
                },
        },
        options_,
        folder_);
  }

  static std::vector<std::uint64_t> seeds_of(const RecordReport& report) {
    std::vector<std::uint64_t> seeds;
    for (const RecordedEpisode& episode : report.manifest.episodes) {
      seeds.push_back(episode.env_seed);
    }
    return seeds;
  }

  template <class Work>
  static Error error_of(Work&& work) {
    try {
      work();
    } catch (const Error& error) {
      return error;
    }
    throw std::logic_error("no error was thrown");
  }

  std::filesystem::path folder_;
  RecordOptions options_;
  std::set<std::uint64_t> failing_;
};

TEST_F(Record, StoresSuccessesOnlyAndPairsEachStateWithItsActionAndImage) {
  failing_ = {6};
  const auto store = std::make_shared<Store>();
  const RecordReport report = run(store);
  EXPECT_THAT(seeds_of(report), ElementsAre(5, 7, 8));
  EXPECT_THAT(report.manifest.failed_seeds, ElementsAre(6));
  EXPECT_EQ(report.num_episodes, 3);
  EXPECT_EQ(report.num_frames, 15);
  EXPECT_TRUE(store->is_finished);
  EXPECT_EQ(store->task, "Reach one.");
  EXPECT_EQ(store->options.fps, 50);
  EXPECT_EQ(store->options.cameras.at(0).name, "observation.images.top");
  ASSERT_EQ(store->episodes.size(), 3U);
  for (std::size_t step = 0; step < 5; ++step) {
    const StoredFrame& frame = store->episodes[1][step];
    EXPECT_FLOAT_EQ(frame.state, 0.25F * static_cast<float>(step));
    EXPECT_FLOAT_EQ(frame.action, 0.25F);
    EXPECT_EQ(frame.image.front(), 7) << "the image belongs to another seed";
    EXPECT_EQ(frame.image.back(), 25 * step) << "the image belongs to another step";
  }
  EXPECT_EQ(report.manifest.episodes[1].first_success_step, 3);
}

TEST_F(Record, ContentDoesNotDependOnTheNumberOfWorkers) {
  const auto one = std::make_shared<Store>();
  options_.num_workers = 1;
  run(one);
  std::filesystem::remove_all(folder_);
  const auto three = std::make_shared<Store>();
  options_.num_workers = 3;
  run(three);
  EXPECT_EQ(one->episodes, three->episodes);
}

TEST_F(Record, GoesOnAfterTheLastStoredEpisodeAndEndsTheSame) {
  failing_ = {6, 8};
  options_.num_episodes = 4;
  const auto whole = std::make_shared<Store>();
  const RecordReport expected = run(whole);
  std::filesystem::remove_all(folder_);

  const auto store = std::make_shared<Store>();
  store->fails_at_end_of = 2;
  EXPECT_EQ(error_of([&] { run(store); }).code(), ErrorCode::kIo);
  EXPECT_EQ(store->episodes.size(), 2U);
  store->fails_at_end_of = -1;
  const RecordReport report = run(store);
  EXPECT_EQ(report.num_resumed, 2);
  EXPECT_EQ(report.num_episodes, 4);
  EXPECT_EQ(store->episodes, whole->episodes);
  EXPECT_EQ(seeds_of(report), seeds_of(expected));
  EXPECT_EQ(report.manifest.failed_seeds, expected.manifest.failed_seeds);

  const auto untouched = std::make_shared<Store>();
  EXPECT_EQ(run(untouched).num_resumed, 4) << "a finished recording is left alone";
  EXPECT_FALSE(untouched->is_finished);
}

TEST_F(Record, StopRequestDropsTheEpisodeInProgressAndKeepsTheOthers) {
  const auto store = std::make_shared<Store>();
  store->stops_at_frame_of = 1;
  EXPECT_EQ(error_of([&] { run(store); }).code(), ErrorCode::kInterrupted);
  EXPECT_EQ(store->episodes.size(), 1U);
  EXPECT_EQ(store->num_discarded, 1);
  EXPECT_FALSE(store->is_finished);
  clear_shutdown_request();
  store->stops_at_frame_of = -1;
  EXPECT_THAT(seeds_of(run(store)), ElementsAre(5, 6, 7));
}

TEST_F(Record, StrataSpreadTheStartPositions) {
  // Seeds 0..9 start at x = 0, 0.1, … 0.9 with y = 0: two of the four cells are filled by them.
  options_.first_seed = 0;
  options_.num_episodes = 4;
  options_.strata = 2;
  const RecordReport report = run(std::make_shared<Store>());
  EXPECT_THAT(seeds_of(report), ElementsAre(0, 5, 50, 55));
  EXPECT_EQ(report.manifest.num_passed_over, 52);
}

TEST_F(Record, OtherOptionsInTheSameFolderAreRefusedNamingThem) {
  const auto store = std::make_shared<Store>();
  run(store);
  options_.num_episodes = 4;
  const Error error = error_of([&] { run(store); });
  EXPECT_EQ(error.code(), ErrorCode::kData);
  EXPECT_THAT(error.what(), HasSubstr("num_episodes: recorded 3, asked for 4"));
}

TEST_F(Record, EpisodesWithoutAManifestAreRefused) {
  const auto store = std::make_shared<Store>();
  store->episodes.resize(2);
  const Error error = error_of([&] { run(store); });
  EXPECT_EQ(error.code(), ErrorCode::kData);
  EXPECT_THAT(error.what(), HasSubstr("episodes=2 listed=0"));
}

TEST_F(Record, ExpertThatAlwaysFailsEndsTheSearch) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    failing_.insert(seed);
  }
  const Error error = error_of([&] { run(std::make_shared<Store>()); });
  EXPECT_EQ(error.code(), ErrorCode::kData);
  EXPECT_THAT(error.what(), HasSubstr("fails too often"));
}

}  // namespace
}  // namespace frostline::eval
