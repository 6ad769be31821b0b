#include <gtest/gtest.h>

#include "frostline/accel/openvino/openvino_backend.h"
#include "frostline/pipeline/cached_source.h"
#include "frostline/pipeline/feature_store.h"
#include "frostline/pipeline/live_source.h"
#include "tests/support/small_plan.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_artefact.h"

namespace frostline::pipeline {
namespace {

constexpr std::int64_t kSteps = 9;
constexpr auto kDeadline = std::chrono::milliseconds(20'000);

std::string openvino_missing() {
  for (const auto& device : accel::make_openvino_backend()->devices()) {
    if (device.device == "CPU" && device.is_usable) {
      return "";
    }
  }
  return accel::make_openvino_backend()->devices().front().reason;
}

using Open = std::function<std::unique_ptr<accel::EncoderSession>(const accel::Artefact&)>;

std::unique_ptr<accel::EncoderSession> open_openvino(const accel::Artefact& artefact) {
  return accel::make_openvino_backend()->compile(artefact, "CPU", {2, 1});
}

/// What live and cached deliver for the same artefact, the store being built by other requests.
void expect_equal(test::SmallPlan& plan, const accel::Artefact& artefact, const Open& open) {
  const test::TempFolder cache;
  const auto live_session = open(artefact);
  LiveSource live(plan.plan(), *live_session, 2, kDeadline);
  const auto live_batches = test::take_batches(live, 0, kSteps);
  ASSERT_NE(live_batches[0], live_batches[1]);

  const auto store_session = open(artefact);
  const auto key = test::key_of(artefact, *store_session);
  const auto built = test::build_store(cache.path(), key, plan.plan(), *store_session);
  CachedSource cached(
      FeatureStore(built.folder, key.fingerprint()), plan.sampler(), plan.plan().batch_size);
  EXPECT_EQ(cached.spec(), live.spec());
  EXPECT_EQ(test::take_batches(cached, 0, kSteps), live_batches);
}

test::SmallPlan tiny_plan() {
  const auto spec = test::tiny_encoder_spec();
  return test::SmallPlan(2, spec.image_height_px, spec.image_width_px);
}

TEST(CachedEqualsLive, OnTheFakeDevice) {
  test::SmallPlan plan;
  expect_equal(plan, test::small_artefact(2), [](const accel::Artefact& artefact) {
    return test::open_fake(artefact, 2);
  });
}

TEST(CachedEqualsLive, OnOpenVinoInCodesOfAFloatNetwork) {
  if (const auto reason = openvino_missing(); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  auto plan = tiny_plan();
  expect_equal(plan, test::tiny_coded_artefact(2), open_openvino);
}

TEST(CachedEqualsLive, OnOpenVinoInInt8) {
  if (const auto reason = openvino_missing(); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const auto result = quantise::quantise(test::tiny_encoder_graph(2, 2),
                                         quantise::batches_of(test::tiny_frames(8, 1), 2),
                                         quantise::batches_of(test::tiny_frames(4, 2), 2),
                                         accel::session_compiler("openvino:CPU", {1, 1}));
  auto plan = tiny_plan();
  expect_equal(plan, result.artefact, open_openvino);
}

/// The key of a store holds no batch size, so stored codes must not depend on one.
TEST(CachedEqualsLive, OnOpenVinoWhateverTheBatchOfTheStore) {
  if (const auto reason = openvino_missing(); !reason.empty()) {
    GTEST_SKIP() << reason;
  }
  const auto result = quantise::quantise(test::tiny_encoder_graph(2, 2),
                                         quantise::batches_of(test::tiny_frames(8, 1), 2),
                                         quantise::batches_of(test::tiny_frames(4, 2), 2),
                                         accel::session_compiler("openvino:CPU", {1, 1}));
  auto plan = tiny_plan();
  const auto live_session = open_openvino(result.artefact);
  LiveSource live(plan.plan(), *live_session, 1, kDeadline);
  const auto live_batches = test::take_batches(live, 0, kSteps);
  for (const std::int64_t batch : {1, 3, 8}) {
    const test::TempFolder cache;
    const auto session = open_openvino(accel::with_batch(result.artefact, batch));
    const auto key = test::key_of(result.artefact, *session);
    EXPECT_EQ(key.runtime_identity, live_session->runtime_identity());
    const auto built = test::build_store(cache.path(), key, plan.plan(), *session);
    CachedSource cached(FeatureStore(built.folder, key.fingerprint()), plan.sampler(), 2);
    EXPECT_EQ(test::take_batches(cached, 0, kSteps), live_batches) << "batch=" << batch;
  }
}

}  // namespace
}  // namespace frostline::pipeline
