#include <algorithm>
#include <chrono>
#include <thread>

#include <signal.h>

#include <gtest/gtest.h>

#include "frostline/core/file.h"
#include "frostline/core/json.h"
#include "frostline/core/random.h"
#include "tests/support/process.h"
#include "tests/support/tiny_training.h"

namespace frostline::train {
namespace {

namespace fs = std::filesystem;

class KilledTraining : public ::testing::Test {
 protected:
  static constexpr std::int64_t kSteps = 60;

  std::vector<std::string> arguments(const fs::path& out, const std::string& source) const {
    return {FROSTLINE_PROGRAM,
            "train",
            "--json",
            "--resume",
            "--dataset=" + tiny_.dataset().string(),
            "--encoder=" + tiny_.encoder().string(),
            "--out=" + out.string(),
            "--source=" + source,
            "--artefact=" + artefact_.string(),
            "--cache-dir=" + (tiny_.folder() / "cache").string(),
            "--steps=" + std::to_string(kSteps),
            "--batch-size=2",
            "--save-every=7",
            "--log-every=1",
            "--threads=1",
            "--image-cache-mb=16"};
  }

  /// Lets a training take `num_steps` more steps and a moment, then sends it `number`.
  /// Returns its end.
  test::Ended stop_after(const fs::path& out,
                         const std::string& source,
                         std::int64_t num_steps,
                         std::chrono::microseconds moment,
                         int number) {
    const auto metrics = out / "metrics.jsonl";
    const fs::path last = out / "checkpoints/last/training_state/training_step.json";
    const std::int64_t first =
        fs::exists(last) ? read_json(last).at("step").get<std::int64_t>() : 0;
    const std::string before = content_of(metrics);
    test::Process child(arguments(out, source), tiny_.folder());
    while (!child.has_ended() && !has_taken(content_of(metrics), before, first + num_steps)) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    std::this_thread::sleep_for(moment);
    child.signal(number);
    return child.wait();
  }

  void expect_same_end(const fs::path& out, const fs::path& whole) {
    EXPECT_EQ(test::last_checkpoint(out), test::last_checkpoint(whole));
    EXPECT_EQ(read_file(out / "metrics.jsonl"), read_file(whole / "metrics.jsonl"));
    for (const auto& entry : fs::directory_iterator(out / "checkpoints")) {
      EXPECT_NE(entry.path().extension(), ".partial") << entry.path();
    }
  }

  test::TinyTraining tiny_;
  fs::path artefact_ = tiny_.folder() / "artefact.safetensors";

 private:
  static std::string content_of(const fs::path& file) {
    return fs::exists(file) ? read_file(file) : std::string();
  }

  /// A resumed run drops the lines after its checkpoint, so that its own are told from `before`.
  static bool has_taken(const std::string& now, const std::string& before, std::int64_t num_steps) {
    return num_steps == 0 ||
           (now != before && std::count(now.begin(), now.end(), '\n') >= num_steps);
  }
};

TEST_F(KilledTraining, ResumesToTheBytesOfAnUninterruptedRun) {
  std::vector<std::string> sources = {"inline"};
  if (test::openvino_missing().empty()) {
    sources.push_back("live");
  }
  accel::save_artefact(artefact_, tiny_.artefact("int8"));
  Random random(17, RandomStream::kControl);
  for (const auto& source : sources) {
    const auto whole = tiny_.folder() / ("whole_" + source);
    ASSERT_EQ(test::run_program(arguments(whole, source)).exit_code, 0);
    const auto out = tiny_.folder() / ("killed_" + source);
    int num_killed = 0;
    for (int i = 0; i < 3; ++i) {
      const auto num_steps = static_cast<std::int64_t>(random.next_below(16));
      const std::chrono::microseconds moment(random.next_below(20'000));
      num_killed += stop_after(out, source, num_steps, moment, SIGKILL).signal == SIGKILL ? 1 : 0;
    }
    EXPECT_EQ(num_killed, 3) << "a run ended before it was killed";
    const auto ended = test::run_program(arguments(out, source));
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_GT(Json::parse(ended.out).at("first_step"), 0);
    expect_same_end(out, whole);
  }
}

TEST_F(KilledTraining, InterruptedBySignalSavesAndSaysHowToGoOn) {
  const auto whole = tiny_.folder() / "whole";
  ASSERT_EQ(test::run_program(arguments(whole, "inline")).exit_code, 0);
  const auto out = tiny_.folder() / "stopped";
  const auto stopped = stop_after(out, "inline", 10, std::chrono::microseconds(0), SIGINT);
  EXPECT_EQ(stopped.exit_code, 130);
  EXPECT_EQ(stopped.out, "");
  EXPECT_NE(stopped.err.find("--resume continues"), std::string::npos) << stopped.err;
  const auto ended = test::run_program(arguments(out, "inline"));
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_GE(Json::parse(ended.out).at("first_step"), 10);
  expect_same_end(out, whole);
}

}  // namespace
}  // namespace frostline::train
