#include "frostline/pipeline/cached_source.h"
#include "frostline/pipeline/inline_source.h"
#include "frostline/pipeline/live_source.h"
#include "tests/conformance/feature_source_suite.h"
#include "tests/support/temp_folder.h"

namespace frostline::test {

namespace {

constexpr auto kDeadline = std::chrono::milliseconds(20'000);

MadeSource make_inline(const SourceRequest& request) {
  return {
      nullptr,
      std::make_unique<pipeline::InlineSource>(request.plan, request.num_workers, request.depth)};
}

MadeSource make_live(const SourceRequest& request, FakeOptions options) {
  std::shared_ptr<accel::EncoderSession> session =
      open_fake(small_artefact(request.plan.batch_size), request.depth, options);
  return {session,
          std::make_unique<pipeline::LiveSource>(
              request.plan, *session, request.num_workers, kDeadline)};
}

MadeSource make_cached(const SourceRequest& request) {
  const auto folder = std::make_shared<TempFolder>();
  // Another batch than the trainer's: a store serves every batch size.
  const auto artefact = small_artefact(3);
  const auto session = open_fake(artefact, request.depth);
  const auto key = key_of(artefact, *session);
  const auto built = build_store(folder->path(), key, request.plan, *session);
  return {folder,
          std::make_unique<pipeline::CachedSource>(
              pipeline::FeatureStore(built.folder, key.fingerprint()),
              *request.plan.sampler,
              request.plan.batch_size)};
}

FeatureSourceCase live_case(const std::string& name, FakeOptions options) {
  return {
      name, true, [options](const SourceRequest& request) { return make_live(request, options); }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(All,
                         FeatureSourceSuite,
                         ::testing::Values(FeatureSourceCase{"Inline", true, make_inline},
                                           live_case("Live", {}),
                                           live_case("LiveNewestFirst",
                                                     {.latency = std::chrono::milliseconds(2),
                                                      .is_newest_first = true}),
                                           FeatureSourceCase{"Cached", false, make_cached}),
                         source_case_name);

}  // namespace frostline::test
