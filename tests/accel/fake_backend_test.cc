#include <gtest/gtest.h>

#include "frostline/accel/run.h"
#include "tests/support/fake_encoder_backend.h"
#include "tests/support/tiny_artefact.h"

namespace frostline::test {
namespace {

ErrorCode code_of(accel::EncoderSession& session) {
  try {
    accel::run(session, tiny_frames(1, 1), std::chrono::milliseconds(20));
  } catch (const Error& e) {
    return e.code();
  }
  ADD_FAILURE() << "no error was thrown";
  return ErrorCode::kInternal;
}

TEST(FakeEncoderBackend, LosesItsDeviceAtTheGivenRequest) {
  const auto artefact = tiny_coded_artefact(1);
  const auto session = FakeEncoderBackend({.lost_at = 1}).compile(artefact, "CPU", {1, 1});
  accel::run(*session, tiny_frames(1, 1));
  EXPECT_EQ(code_of(*session), ErrorCode::kDeviceLost);
  EXPECT_EQ(code_of(*session), ErrorCode::kDeviceLost);
}

TEST(FakeEncoderBackend, HangsAndGivesWrongValuesAtTheGivenRequest) {
  const auto artefact = tiny_coded_artefact(1);
  const auto session =
      FakeEncoderBackend({.hang_at = 1, .wrong_from = 2}).compile(artefact, "CPU", {2, 1});
  const HostTensor images = tiny_frames(1, 1);
  const auto expected = fake_outputs(artefact, images.bytes());
  EXPECT_EQ(accel::run(*session, images).front().data<std::int8_t>()[0],
            expected.front().data<std::int8_t>()[0]);
  EXPECT_EQ(code_of(*session), ErrorCode::kDevice);
  EXPECT_EQ(accel::run(*session, images).front().data<std::int8_t>()[0],
            ~expected.front().data<std::int8_t>()[0]);
}

}  // namespace
}  // namespace frostline::test
