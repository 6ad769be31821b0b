#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "frostline/data/dataset.h"

namespace frostline::data {

/// Endless, seeded order of frames: each epoch is a permutation of all anchors that depends on
/// (data set, seed, epoch) alone, so that batch `step` is the same in every condition and after
/// every resume. Immutable; thread-safe.
class Sampler {
 public:
  /// `stride`: only frames whose frame_index is a multiple of it are anchors.
  /// Errors: `kData` when there is no anchor; `kUsage` when an episode is unknown or named twice,
  /// or the stride is not positive.
  Sampler(const Dataset& dataset,
          std::span<const std::int64_t> episodes,
          std::int64_t stride,
          std::uint64_t seed);

  std::int64_t num_anchors() const { return static_cast<std::int64_t>(anchors_.size()); }

  /// Anchors in data set order.
  std::span<const FrameId> anchors() const { return anchors_; }

  /// Indices into `anchors()` of batch `step`; batches cross epoch borders, no sample is dropped.
  /// Computed for any step without replaying earlier ones; the last epochs' orders are kept.
  std::vector<std::int64_t> batch(std::int64_t step, std::int64_t batch_size) const;

 private:
  struct Orders;

  std::vector<FrameId> anchors_;
  std::uint64_t seed_;
  std::shared_ptr<Orders> orders_;
};

}  // namespace frostline::data
