#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "frostline/core/random.h"
#include "frostline/pipeline/batch_plan.h"
#include "frostline/pipeline/feature_source.h"
#include "frostline/pipeline/feature_store.h"
#include "tests/data/fake_dataset.h"
#include "tests/support/fake_encoder_backend.h"

namespace frostline::test {

/// An image that depends on its frame alone.
inline void read_small_image(data::FrameId frame, std::span<std::uint8_t> out) {
  Random random(static_cast<std::uint64_t>(frame.episode_index),
                RandomStream::kControl,
                static_cast<std::uint64_t>(frame.frame_index));
  for (auto& byte : out) {
    byte = static_cast<std::uint8_t>(random.next_u32());
  }
}

/// Episodes 3 and 8 with 5 + 8 frames, every second one an anchor: 7 anchors, an odd number.
class SmallPlan {
 public:
  explicit SmallPlan(std::int64_t batch_size = 2,
                     std::int64_t height_px = 4,
                     std::int64_t width_px = 6,
                     std::uint64_t seed = 11)
      : sampler_(dataset_, dataset_.episodes(), 2, seed),
        plan_{&sampler_, batch_size, height_px, width_px, read_small_image} {}

  SmallPlan(const SmallPlan&) = delete;
  SmallPlan& operator=(const SmallPlan&) = delete;
  SmallPlan(SmallPlan&&) = delete;
  SmallPlan& operator=(SmallPlan&&) = delete;
  ~SmallPlan() = default;

  const data::Sampler& sampler() const { return sampler_; }

  pipeline::BatchPlan& plan() { return plan_; }

 private:
  data::FakeDataset dataset_{{3, 5}, {8, 8}};
  data::Sampler sampler_;
  pipeline::BatchPlan plan_;
};

/// An artefact for the fake device alone: codes and a float tensor, without a network.
inline accel::Artefact small_artefact(std::int64_t batch) {
  accel::Artefact artefact;
  artefact.input = {"image", DType::kU8, {batch, 4, 6, 3}};
  artefact.outputs = {{"x_0", DType::kI8, {batch, 3, 5}}, {"x_1", DType::kF32, {batch, 2, 4}}};
  artefact.scales = {0.5F, 1.0F};
  artefact.zero_points = {0, 0};
  artefact.precision = "int8";
  artefact.fingerprint = {std::string(64, 'a')};
  return artefact;
}

inline std::unique_ptr<accel::EncoderSession> open_fake(const accel::Artefact& artefact,
                                                        int num_slots,
                                                        FakeOptions options = {}) {
  return FakeEncoderBackend(options).compile(artefact, "CPU", {num_slots, 1});
}

inline pipeline::FeatureKey key_of(const accel::Artefact& artefact,
                                   const accel::EncoderSession& session) {
  return {
      artefact.fingerprint, session.runtime_identity(), {"data"}, "decoder", "camera", 2, {3, 8}};
}

inline pipeline::BuildResult build_store(const std::filesystem::path& cache,
                                         const pipeline::FeatureKey& key,
                                         const pipeline::BatchPlan& plan,
                                         accel::EncoderSession& session) {
  return pipeline::build_feature_store(cache, key, plan, session, [](std::int64_t) {});
}

/// Memory for one batch of a source.
class BatchBuffers {
 public:
  explicit BatchBuffers(const pipeline::FeatureSource& source) {
    for (const auto& spec : source.spec()) {
      tensors_.emplace_back(spec.dtype, spec.shape);
    }
    for (auto& tensor : tensors_) {
      views_.push_back(tensor.bytes());
    }
  }

  std::span<const std::span<std::byte>> views() const { return views_; }

  /// All bytes, one tensor after another.
  std::vector<std::byte> bytes() const {
    std::vector<std::byte> all;
    for (const auto& view : views_) {
      all.insert(all.end(), view.begin(), view.end());
    }
    return all;
  }

 private:
  std::vector<HostTensor> tensors_;
  std::vector<std::span<std::byte>> views_;
};

using Batches = std::vector<std::vector<std::byte>>;

/// Starts a source and takes all its batches.
inline Batches take_batches(pipeline::FeatureSource& source,
                            std::int64_t first_step,
                            std::int64_t num_steps) {
  source.start(first_step, num_steps);
  BatchBuffers buffers(source);
  Batches batches;
  for (std::int64_t i = 0; i < num_steps; ++i) {
    source.next(buffers.views());
    batches.push_back(buffers.bytes());
  }
  return batches;
}

}  // namespace frostline::test
