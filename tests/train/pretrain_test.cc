#include "frostline/train/pretrain.h"

#include <gtest/gtest.h>

#include "frostline/core/file.h"
#include "frostline/policy/checkpoint.h"
#include "frostline/split/encoder_graph.h"
#include "tests/support/expect_error.h"
#include "tests/support/tiny_training.h"

namespace frostline::train {
namespace {

namespace fs = std::filesystem;

/// The smallest preset on pictures of its size, two steps from checkpoint to checkpoint.
class Pretrain : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    tiny_ = std::make_unique<test::TinyTraining>([](data::WriterOptions& options) {
      options.cameras[0].height_px = 240;
      options.cameras[0].width_px = 320;
      options.features[0].shape = {14};
      options.features[1].shape = {14};
    });
  }

  static void TearDownTestSuite() { tiny_.reset(); }

  static PretrainOptions options(const std::string& run) {
    PretrainOptions options;
    options.loop = tiny_->options(run).loop;
    options.loop.steps = 3;
    options.loop.batch_size = 1;
    options.statistics_batches = 2;
    return options;
  }

  static std::unique_ptr<test::TinyTraining> tiny_;
};

std::unique_ptr<test::TinyTraining> Pretrain::tiny_;

TEST_F(Pretrain, GivesAnEncoderThatCanBeFrozenAndResumesBitForBit) {
  const auto whole = pretrain(options("whole"));
  EXPECT_EQ(whole.steps, 3);
  EXPECT_EQ(whole.curve.size(), 3U);
  const auto encoder = policy::read_encoder(whole.encoder);
  EXPECT_EQ(encoder.fingerprint, whole.fingerprint);
  const auto graph = split::encoder_graph(encoder.spec, encoder.parameters.to_host(), 4, 1);
  EXPECT_EQ(graph.outputs.size(), 5U);
  EXPECT_EQ(read_json(whole.encoder.parent_path() / "run.json").at("encoder"),
            whole.fingerprint.hex);

  auto resumed = options("resumed");
  fs::copy(tiny_->folder() / "whole",
           resumed.loop.out,
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  fs::remove(resumed.loop.out / "encoder.safetensors");
  fs::remove(resumed.loop.out / "checkpoints/last");
  fs::create_symlink("000002", resumed.loop.out / "checkpoints/last");
  resumed.loop.is_resume = true;
  const auto again = pretrain(resumed);
  EXPECT_EQ(again.steps, 1);
  EXPECT_EQ(read_file(again.encoder), read_file(whole.encoder));
  EXPECT_EQ(read_file(resumed.loop.out / "metrics.jsonl"),
            read_file(tiny_->folder() / "whole/metrics.jsonl"));
}

TEST_F(Pretrain, RefusesTheFolderOfAnotherRunAndOtherOptions) {
  auto first = options("run");
  first.loop.steps = 2;
  pretrain(first);
  test::expect_error([&] { pretrain(first); }, ErrorCode::kUsage, {"already holds a run"});
  first.loop.is_resume = true;
  first.statistics_batches = 3;
  test::expect_error(
      [&] { pretrain(first); }, ErrorCode::kConfig, {"statistics_batches: checkpoint=2 now=3"});
}

/// Not finite and not logged: the checkpoint must still not be written.
TEST_F(Pretrain, LossThatIsNotFiniteIsNeverSaved) {
  auto bad = options("bad");
  bad.loop.learning_rate = 1e30;
  bad.loop.warmup_steps = 0;
  bad.loop.log_every = 1000;
  bad.loop.save_every = 1;
  bad.loop.steps = 6;
  test::expect_error([&] { pretrain(bad); }, ErrorCode::kNumeric, {"step=", "episode/frame:"});
  const auto last = fs::canonical(bad.loop.out / "checkpoints/last");
  EXPECT_LT(last.filename(), "000006");
}

}  // namespace
}  // namespace frostline::train
