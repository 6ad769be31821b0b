#include <atomic>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frostline/core/file.h"
#include "frostline/core/shutdown.h"
#include "frostline/train/trainer.h"
#include "tests/support/expect_error.h"
#include "tests/support/tiny_training.h"

namespace frostline::train {
namespace {

namespace fs = std::filesystem;

using test::expect_error;

TrainResult run(const TrainOptions& options,
                const std::optional<accel::Artefact>& artefact = std::nullopt) {
  auto meters = test::no_meters();
  return train(options, artefact, meters);
}

/// Copies a run and takes it back to one of its checkpoints, as a kill after that one leaves it.
void rewind(const fs::path& from, const fs::path& to, const std::string& checkpoint) {
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  for (const auto& entry : fs::directory_iterator(to / "checkpoints")) {
    if (entry.path().filename() > checkpoint) {
      fs::remove_all(entry.path());
    }
  }
  fs::create_symlink(checkpoint, to / "checkpoints/last");
  // What the killed process wrote of the next checkpoint.
  fs::create_directories(to / "checkpoints/000006.partial/training_state");
}

class Resume : public ::testing::TestWithParam<Source> {
 protected:
  void SetUp() override {
    if (GetParam() != Source::kInline) {
      if (const auto reason = test::openvino_missing(); !reason.empty()) {
        GTEST_SKIP() << reason;
      }
      artefact_ = tiny_.artefact("int8");
    }
  }

  test::TinyTraining tiny_;
  std::optional<accel::Artefact> artefact_;
};

TEST_P(Resume, FromAnyCheckpointEqualsNeverHavingStopped) {
  run(tiny_.options("whole", GetParam()), artefact_);
  const fs::path whole = tiny_.folder() / "whole";
  for (const std::string checkpoint : {"000002", "000004"}) {
    auto options = tiny_.options("from_" + checkpoint, GetParam());
    rewind(whole, options.loop.out, checkpoint);
    options.loop.is_resume = true;
    const auto result = run(options, artefact_);
    EXPECT_EQ(result.first_step, std::stoll(checkpoint));
    EXPECT_EQ(result.steps, 6 - result.first_step);
    EXPECT_EQ(test::last_checkpoint(options.loop.out), test::last_checkpoint(whole));
    EXPECT_EQ(read_file(options.loop.out / "metrics.jsonl"), read_file(whole / "metrics.jsonl"));
    EXPECT_FALSE(result.spans.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         Resume,
                         ::testing::Values(Source::kInline, Source::kLive, Source::kCached),
                         [](const auto& tested) { return to_string(tested.param); });

TEST(Interrupted, RunSavesWhatItFinishedAndGoesOnFromThere) {
  const test::TinyTraining tiny;
  auto options = tiny.options("whole");
  options.loop.steps = 60;
  options.loop.save_every = 1000;
  run(options);

  options.loop.out = tiny.folder() / "stopped";
  {
    std::jthread watcher([&](const std::stop_token& stop) {
      const auto metrics = options.loop.out / "metrics.jsonl";
      while (!stop.stop_requested() && (!fs::exists(metrics) || fs::file_size(metrics) == 0)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      request_shutdown();
    });
    expect_error([&] { run(options); }, ErrorCode::kInterrupted, {"--resume"});
  }
  clear_shutdown_request();
  ASSERT_TRUE(fs::exists(options.loop.out / "checkpoints/last"));
  options.loop.is_resume = true;
  const auto result = run(options);
  EXPECT_GT(result.first_step, 0);
  EXPECT_LT(result.first_step, 60);
  EXPECT_EQ(test::last_checkpoint(options.loop.out),
            test::last_checkpoint(tiny.folder() / "whole"));
}

TEST(ResumedRun, ThatWasFinishedKeepsItsCheckpoint) {
  const test::TinyTraining tiny;
  auto options = tiny.options("run");
  const auto first = run(options);
  const auto written = fs::last_write_time(first.checkpoint / "training_state");
  options.loop.is_resume = true;
  const auto again = run(options);
  EXPECT_EQ(again.steps, 0);
  EXPECT_EQ(again.checkpoint, first.checkpoint);
  EXPECT_EQ(again.final_loss, first.final_loss);
  // Replacing the checkpoint in force would leave a moment without one.
  EXPECT_EQ(fs::last_write_time(first.checkpoint / "training_state"), written);
}

TEST(ResumedRun, WithoutACheckpointBegins) {
  const test::TinyTraining tiny;
  run(tiny.options("whole"));
  auto options = tiny.options("run");
  options.loop.is_resume = true;
  EXPECT_EQ(run(options).first_step, 0);
  EXPECT_EQ(test::last_checkpoint(tiny.folder() / "run"),
            test::last_checkpoint(tiny.folder() / "whole"));
}

TEST(FolderOfAnotherRun, IsRefusedAndUntouched) {
  const test::TinyTraining tiny;
  const auto options = tiny.options("run");
  run(options);
  const auto before = test::folder_content(options.loop.out);
  expect_error([&] { run(options); },
               ErrorCode::kUsage,
               {"already holds a run", options.loop.out.string(), "--resume"});
  EXPECT_EQ(test::folder_content(options.loop.out), before);
}

TEST(ResumedRun, WithAnotherOptionIsRefusedByName) {
  const test::TinyTraining tiny;
  run(tiny.options("run"));
  const auto before = test::folder_content(tiny.folder() / "run");
  const auto refuse = [&](const std::function<void(TrainOptions&)>& change,
                          std::initializer_list<std::string> words) {
    auto options = tiny.options("run");
    options.loop.is_resume = true;
    change(options);
    expect_error([&] { run(options); }, ErrorCode::kConfig, words);
  };
  refuse([](auto& o) { o.loop.batch_size = 3; }, {"batch_size: checkpoint=2 now=3"});
  refuse([](auto& o) { o.loop.steps = 8; }, {"steps: checkpoint=6 now=8"});
  refuse([](auto& o) { o.loop.seed = 9; }, {"seed: checkpoint=5 now=9"});
  refuse([](auto& o) { o.loop.learning_rate = 1; }, {"learning_rate"});
  refuse([](auto& o) { o.loop.episodes = {0, 1}; }, {"episodes"});
  EXPECT_EQ(test::folder_content(tiny.folder() / "run"), before);
}

TEST(ResumedRun, WithMoreThreadsIsRefusedUnlessInexactIsAllowed) {
  const test::TinyTraining tiny;
  run(tiny.options("run"));
  auto options = tiny.options("run");
  options.loop.is_resume = true;
  options.loop.num_threads = 2;
  expect_error([&] { run(options); }, ErrorCode::kUnsupported, {"num_cores", "--allow-inexact"});
  options.loop.allows_inexact = true;
  EXPECT_EQ(run(options).steps, 0);
}

TEST(ResumedRun, OnAnotherEncoderOrDataSetInTheSamePlaceIsRefused) {
  const test::TinyTraining tiny;
  run(tiny.options("run"));
  auto options = tiny.options("run");
  options.loop.is_resume = true;
  const test::TinyTraining other([](data::WriterOptions& recorded) { recorded.fps = 25; });
  fs::rename(tiny.dataset(), tiny.folder() / "kept");
  fs::copy(other.dataset(), tiny.dataset(), fs::copy_options::recursive);
  expect_error([&] { run(options); }, ErrorCode::kConfig, {"dataset_fingerprint"});
  fs::remove_all(tiny.dataset());
  fs::rename(tiny.folder() / "kept", tiny.dataset());
  EXPECT_EQ(run(options).steps, 0);
}

TEST(ResumedRun, WithAnotherArtefactIsRefused) {
  if (const auto reason = test::openvino_missing(); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const test::TinyTraining tiny;
  auto options = tiny.options("run", Source::kLive);
  run(options, tiny.artefact("int8"));
  options.loop.is_resume = true;
  expect_error(
      [&] { run(options, tiny.artefact("fp32")); }, ErrorCode::kConfig, {"artefact_fingerprint"});
}

TEST(NumericFailure, NamesStepAndFramesAndKeepsTheLastCheckpoint) {
  const test::TinyTraining tiny;
  auto options = tiny.options("run");
  options.loop.save_every = 1;
  options.loop.steps = 30;
  tiny.poison_action(0);  // In the chunk of the first anchor of episode 0 alone.
  std::string text;
  try {
    run(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNumeric);
    text = error.what();
  }
  EXPECT_NE(text.find("the loss is not finite"), std::string::npos) << text;
  EXPECT_NE(text.find("data verify"), std::string::npos) << text;
  EXPECT_NE(text.find(" 0/0"), std::string::npos) << text;
  const auto at = text.find("step=");
  ASSERT_NE(at, std::string::npos) << text;
  const auto step = std::stoll(text.substr(at + 5));
  ASSERT_GT(step, 0) << "no step came before; choose another seed";
  EXPECT_EQ(fs::read_symlink(options.loop.out / "checkpoints/last"), fmt::format("{:06}", step));
}

}  // namespace
}  // namespace frostline::train
