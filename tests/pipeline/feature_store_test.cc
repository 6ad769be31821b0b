#include "frostline/pipeline/feature_store.h"

#include <algorithm>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/json.h"
#include "frostline/pipeline/cached_source.h"
#include "tests/support/expect_error.h"
#include "tests/support/small_plan.h"
#include "tests/support/temp_folder.h"

namespace frostline::pipeline {
namespace {

namespace fs = std::filesystem;

using test::expect_error;
using ::testing::HasSubstr;

class Store : public ::testing::Test {
 protected:
  BuildResult build() { return test::build_store(cache_.path(), key_, plan_.plan(), *session_); }

  /// Builds and expects a warning that holds every one of `words`.
  void expect_rebuilt(const std::vector<std::string>& words) {
    ::testing::internal::CaptureStderr();
    const auto again = build();
    const std::string log = ::testing::internal::GetCapturedStderr();
    EXPECT_FALSE(again.was_present);
    EXPECT_THAT(log, HasSubstr("built again"));
    for (const auto& word : words) {
      EXPECT_THAT(log, HasSubstr(word));
    }
    FeatureStore(again.folder, key_.fingerprint()).verify();
    EXPECT_TRUE(build().was_present);
  }

  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(cache_.path())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  test::TempFolder cache_;
  test::SmallPlan plan_;
  accel::Artefact artefact_ = test::small_artefact(2);
  std::unique_ptr<accel::EncoderSession> session_ = test::open_fake(artefact_, 2);
  FeatureKey key_ = test::key_of(artefact_, *session_);
};

TEST_F(Store, HoldsEveryAnchorAndHitsTheSecondTime) {
  const auto built = build();
  EXPECT_FALSE(built.was_present);
  EXPECT_EQ(built.num_anchors, 7);
  EXPECT_GT(built.duration_s, 0);
  const FeatureStore store(built.folder, key_.fingerprint());
  EXPECT_EQ(store.num_anchors(), 7);
  ASSERT_EQ(store.spec().size(), 2U);
  EXPECT_EQ(store.spec()[0], (TensorSpec{"x_0", DType::kI8, {3, 5}}));
  EXPECT_EQ(store.spec()[1], (TensorSpec{"x_1", DType::kF32, {2, 4}}));

  const auto num_encoded = session_->counters().submitted;
  const auto again = build();
  EXPECT_TRUE(again.was_present);
  EXPECT_EQ(again.folder, built.folder);
  EXPECT_EQ(session_->counters().submitted, num_encoded);
}

TEST_F(Store, AnyOtherKeyMisses) {
  build();
  std::vector<FeatureKey> others(7, key_);
  others[0].artefact.hex[0] = 'b';
  others[1].runtime_identity += " avx2";
  others[2].dataset.hex = "data2";
  others[3].camera = "other";
  others[4].stride = 1;
  others[5].episodes = {3};
  others[6].decoder = "decoder 2";
  for (const auto& other : others) {
    EXPECT_NE(other.fingerprint(), key_.fingerprint());
    EXPECT_FALSE(test::build_store(cache_.path(), other, plan_.plan(), *session_).was_present);
  }
  EXPECT_EQ(entries().size(), 8U);
  EXPECT_TRUE(build().was_present);
}

TEST_F(Store, OfAnotherKeyIsRefused) {
  const auto built = build();
  expect_error([&] { FeatureStore(built.folder, Fingerprint{"1234"}); },
               ErrorCode::kData,
               {"another encoder or data set", "wanted=1234", key_.fingerprint().hex});
  expect_error([&] { FeatureStore(cache_.path() / "none", key_.fingerprint()); }, ErrorCode::kIo);
}

TEST_F(Store, OfOtherAnchorsIsRefusedByTheSource) {
  const auto built = build();
  data::FakeDataset longer{{3, 5}, {8, 20}};
  const data::Sampler sampler(longer, longer.episodes(), 2, 11);
  expect_error([&] { CachedSource(FeatureStore(built.folder, key_.fingerprint()), sampler, 2); },
               ErrorCode::kData,
               {"store=7", "data set=13"});
}

TEST_F(Store, TruncatedFeaturesAreNamedAndBuiltAgain) {
  const auto built = build();
  const auto file = built.folder / "features.bin";
  const auto size = fs::file_size(file);
  for (const auto left : {size - 1, size / 2, std::uintmax_t{0}}) {
    fs::resize_file(file, left);
    expect_error([&] { FeatureStore(built.folder, key_.fingerprint()); },
                 ErrorCode::kData,
                 {"wrong size",
                  file.string(),
                  std::to_string(left),
                  std::to_string(size),
                  "remove the folder"});
    expect_rebuilt({"wrong size", file.string()});
  }
}

TEST_F(Store, CorruptedFeaturesAreNamedAndBuiltAgain) {
  const auto built = build();
  const auto file = built.folder / "features.bin";
  const std::string content = read_file(file);
  for (const std::size_t place : {std::size_t{0}, content.size() / 2, content.size() - 1}) {
    std::string damaged = content;
    damaged[place] = static_cast<char>(damaged[place] ^ 1);
    write_file_atomic(file, damaged);
    expect_error([&] { FeatureStore(built.folder, key_.fingerprint()).verify(); },
                 ErrorCode::kData,
                 {"corrupt", file.string(), "remove the folder"});
    expect_rebuilt({"corrupt", file.string()});
    EXPECT_EQ(read_file(file), content);
  }
}

TEST_F(Store, MissingFeaturesAreBuiltAgain) {
  const auto built = build();
  fs::remove(built.folder / "features.bin");
  expect_rebuilt({"features.bin"});
}

TEST_F(Store, DamagedDescriptionIsNamedAndBuiltAgain) {
  const auto built = build();
  const auto file = built.folder / "store.json";
  const std::string content = read_file(file);
  const Json whole = read_json(file);
  std::vector<std::string> damaged = {"", "{", content.substr(0, content.size() / 2), "[]", "null"};
  for (const auto& [key, value] : whole.items()) {
    if (key == "key" || key == "tensors" || key == "num_anchors" || key == "sha256") {
      Json without = whole;
      without.erase(key);
      damaged.push_back(without.dump());
      Json other = whole;
      other[key] = Json::object({{"a", 1}});
      damaged.push_back(other.dump());
    }
  }
  Json negative = whole;
  negative["num_anchors"] = -7;
  damaged.push_back(negative.dump());
  Json other_dtype = whole;
  other_dtype["tensors"][0]["dtype"] = "u8";
  damaged.push_back(other_dtype.dump());
  Json other_shape = whole;
  other_shape["tensors"][0]["shape"] = {-3, -5};
  damaged.push_back(other_shape.dump());
  for (const auto& text : damaged) {
    SCOPED_TRACE(text);
    write_file_atomic(file, text);
    expect_error([&] { FeatureStore(built.folder, key_.fingerprint()); },
                 ErrorCode::kData,
                 {built.folder.string()});
    expect_rebuilt({built.folder.string()});
  }
}

TEST_F(Store, FailedBuildLeavesNothing) {
  auto plan = plan_.plan();
  plan.read_image = [](data::FrameId, std::span<std::uint8_t>) {
    throw Error(ErrorCode::kData, "decoder broke", "frame=7");
  };
  expect_error([&] { test::build_store(cache_.path(), key_, plan, *session_); },
               ErrorCode::kData,
               {"decoder broke"});
  EXPECT_TRUE(entries().empty());
}

TEST_F(Store, DeviceLostWhileBuildingLeavesNothing) {
  session_ = test::open_fake(artefact_, 2, {.lost_at = 2});
  expect_error([&] { build(); }, ErrorCode::kDeviceLost);
  EXPECT_TRUE(entries().empty());
  session_ = test::open_fake(artefact_, 2);
  EXPECT_FALSE(build().was_present);
}

TEST_F(Store, ProgressEndsWithEveryAnchor) {
  std::vector<std::int64_t> seen;
  build_feature_store(cache_.path(), key_, plan_.plan(), *session_, [&](std::int64_t done) {
    seen.push_back(done);
  });
  EXPECT_TRUE(std::ranges::is_sorted(seen));
  EXPECT_EQ(seen.back(), 7);
}

/// Builds in a child that stops in the middle, and kills it there.
pid_t build_and_kill(const fs::path& cache) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    test::SmallPlan plan;
    int num_read = 0;
    plan.plan().read_image = [&](data::FrameId frame, std::span<std::uint8_t> out) {
      if (++num_read == 6) {
        (void)!::write(ends[1], "x", 1);
        ::pause();
      }
      test::read_small_image(frame, out);
    };
    const auto artefact = test::small_artefact(2);
    const auto session = test::open_fake(artefact, 2);
    test::build_store(cache, test::key_of(artefact, *session), plan.plan(), *session);
    ::_exit(0);
  }
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 1);
  ::kill(child, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  ::close(ends[0]);
  ::close(ends[1]);
  return child;
}

TEST_F(Store, KilledBuildLeavesNoStoreAndTheNextOneClearsUp) {
  for (int i = 0; i < 3; ++i) {
    build_and_kill(cache_.path());
    EXPECT_FALSE(fs::exists(cache_.path() / key_.fingerprint().hex));
  }
  const auto built = build();
  EXPECT_FALSE(built.was_present);
  FeatureStore(built.folder, key_.fingerprint()).verify();
  EXPECT_THAT(entries(), ::testing::ElementsAre(key_.fingerprint().hex));
}

TEST_F(Store, WhatAKilledBuildOfAnotherKeyLeftIsClearedToo) {
  build_and_kill(cache_.path());
  key_.camera = "other";
  build();
  EXPECT_THAT(entries(), ::testing::ElementsAre(key_.fingerprint().hex));
}

TEST_F(Store, BuildOfALivingProcessIsLeftAlone) {
  const std::string of_parent = "abc." + std::to_string(::getppid()) + ".partial";
  fs::create_directories(cache_.path() / of_parent);
  fs::create_directories(cache_.path() / "notes.partial");
  build();
  EXPECT_THAT(entries(),
              ::testing::UnorderedElementsAre(
                  key_.fingerprint().hex, of_parent, std::string("notes.partial")));
}

}  // namespace
}  // namespace frostline::pipeline
