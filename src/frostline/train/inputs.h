#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "frostline/data/dataset.h"
#include "frostline/data/image_cache.h"
#include "frostline/data/sampler.h"
#include "frostline/pipeline/batch_plan.h"
#include "frostline/policy/ar_actor_expert.h"
#include "frostline/policy/ar_actor_spec.h"
#include "frostline/policy/normaliser.h"
#include "frostline/train/options.h"

namespace frostline::train {

/// A data set opened for one training: order of samples, images, normalised windows. One thread,
/// `plan()`'s image reader excepted.
class Inputs {
 public:
  /// Errors: `kConfig` when the data set lacks a camera, feature, size or dimension that `spec`
  /// needs (names what is wanted and what is there); `kData`.
  Inputs(const LoopOptions& options, const policy::ArActorSpec& spec);
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;
  Inputs(Inputs&&) = delete;
  Inputs& operator=(Inputs&&) = delete;
  ~Inputs();

  const data::Dataset& dataset() const { return *dataset_; }

  const data::Sampler& sampler() const { return *sampler_; }

  const std::vector<std::int64_t>& episodes() const { return episodes_; }

  const policy::Normaliser& state() const { return state_; }

  const policy::Normaliser& action() const { return action_; }

  /// Order and images, for a feature source. Borrows this object.
  pipeline::BatchPlan plan() const;

  /// Frames of batch `step`.
  std::vector<data::FrameId> frames(std::int64_t step) const;

  /// Normalised windows of batch `step` on `device`, with the history mask of (seed, step).
  policy::ExpertBatch batch(std::int64_t step, at::Device device) const;

 private:
  LoopOptions options_;
  policy::ArActorSpec spec_;
  std::unique_ptr<data::Dataset> dataset_;
  std::vector<std::int64_t> episodes_;
  std::unique_ptr<data::Sampler> sampler_;
  std::unique_ptr<data::ImageCache> images_;
  policy::Normaliser state_;
  policy::Normaliser action_;
};

/// Errors: `kNumeric` naming step, loss and the frames of its batch when `loss` is not finite.
void require_finite(double loss, std::int64_t step, const Inputs& inputs);

}  // namespace frostline::train
