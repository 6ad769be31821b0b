#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "frostline/core/tensor.h"

namespace frostline::pipeline {

/// When one phase of one batch ran, on `Clock::steady()`; drawn in the overlap timeline.
struct Span {
  std::string lane;   ///< `decode`, `encoder`, `trainer`.
  std::string phase;  ///< `decode`, `encode`, `stall`, …
  std::int64_t step = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Delivers what the trainer needs for batch after batch, in the sampler's order.
///
/// Threads: `next` is called by one thread; work ahead runs in the source's own threads, whose
/// exceptions `next` rethrows.
class FeatureSource {
 public:
  FeatureSource() = default;
  FeatureSource(const FeatureSource&) = delete;
  FeatureSource& operator=(const FeatureSource&) = delete;
  FeatureSource(FeatureSource&&) = delete;
  FeatureSource& operator=(FeatureSource&&) = delete;
  virtual ~FeatureSource() = default;

  /// What a batch is made of: `image` u8 [batch, height, width, 3] for `inline`, else `x_0`..`x_k`
  /// i8 or f32 [batch, tokens, dim].
  virtual const std::vector<TensorSpec>& spec() const = 0;

  /// Begins at batch `first_step`. Errors: `kUsage` when already started.
  virtual void start(std::int64_t first_step, std::int64_t num_steps) = 0;

  /// Fills the caller's buffers, one per spec and of exactly its size, with the next batch.
  /// Returns how long the caller had to wait. Units: ns.
  /// Errors: `kInternal` for other buffers, before `start` and after its last step, with nothing
  /// consumed; what a thread of the source threw; as `accel::EncoderSession::wait`.
  virtual std::int64_t next(std::span<const std::span<std::byte>> buffers) = 0;

  /// Phases that ended since the last call. Thread-safe.
  virtual std::vector<Span> take_spans() = 0;
};

/// Errors: `kInternal` unless there is one buffer per spec and of exactly its size.
void check_buffers(std::span<const TensorSpec> specs,
                   std::span<const std::span<std::byte>> buffers);

}  // namespace frostline::pipeline
