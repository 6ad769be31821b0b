#include "frostline/study/encoder_artefact.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/tiny_training.h"

namespace frostline::study {
namespace {

using test::expect_error;

class ArtefactOfARun : public ::testing::Test {
 protected:
  test::TinyTraining tiny_;
  train::TrainOptions options_ = tiny_.options("run", train::Source::kLive);
  std::filesystem::path stored_ = options_.loop.out / "encoder_artefact.safetensors";
};

TEST_F(ArtefactOfARun, IsTakenFromTheRunFolderForItsBatch) {
  const auto artefact = tiny_.artefact("int8");
  accel::save_artefact(stored_, artefact);
  options_.loop.batch_size = 5;
  const auto given = artefact_for(options_);
  EXPECT_EQ(given.fingerprint, artefact.fingerprint);
  EXPECT_EQ(given.input.shape.at(0), 5);
}

TEST_F(ArtefactOfARun, OfAnotherPrecisionOrBoundaryIsRefused) {
  accel::save_artefact(stored_, tiny_.artefact("fp32"));
  expect_error([&] { artefact_for(options_); },
               ErrorCode::kConfig,
               {"precision=fp32", "--encoder-precision=int8", stored_.string()});
  options_.encoder_precision = "fp32";
  options_.boundary = 2;
  expect_error([&] { artefact_for(options_); },
               ErrorCode::kConfig,
               {"another boundary", "tensors=5", "--boundary=L2", stored_.string()});
}

TEST_F(ArtefactOfARun, ThatIsGivenIsCheckedTheSameWay) {
  options_.artefact = tiny_.folder() / "given.safetensors";
  expect_error([&] { artefact_for(options_); }, ErrorCode::kIo, {options_.artefact.string()});
  accel::save_artefact(options_.artefact, tiny_.artefact("fp32"));
  expect_error([&] { artefact_for(options_); }, ErrorCode::kConfig, {"precision=fp32"});
}

TEST_F(ArtefactOfARun, TooFewFramesToCalibrateOnAreCounted) {
  expect_error([&] { artefact_for(options_); },
               ErrorCode::kData,
               {"too few frames", "frames=36", "needed=192"});
}

}  // namespace
}  // namespace frostline::study
