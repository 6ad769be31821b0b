#pragma once

#include <chrono>
#include <vector>

#include "frostline/accel/backend.h"
#include "frostline/pipeline/batch_plan.h"
#include "frostline/pipeline/feature_source.h"
#include "frostline/pipeline/ordered_ring.h"
#include "frostline/pipeline/span_log.h"

namespace frostline::pipeline {

/// Runs the encoder ahead of the trainer: images are decoded straight into the session's own slots
/// and submitted, so that the device works on batch N+1 while the trainer works on batch N.
class LiveSource final : public FeatureSource {
 public:
  /// `session` outlives the source, takes whole batches and serves nothing else, not even after the
  /// source: slots of requests that nobody waited for are not given back.
  /// Errors: `kConfig` when the session's input is not a batch of `plan`.
  LiveSource(BatchPlan plan,
             accel::EncoderSession& session,
             int num_workers,
             std::chrono::milliseconds deadline);

  const std::vector<TensorSpec>& spec() const override { return session_.outputs(); }

  void start(std::int64_t first_step, std::int64_t num_steps) override;
  std::int64_t next(std::span<const std::span<std::byte>> buffers) override;

  std::vector<Span> take_spans() override { return log_.take(); }

 private:
  void submit(std::int64_t step, accel::Ticket& ticket);

  BatchPlan plan_;
  accel::EncoderSession& session_;
  std::chrono::milliseconds deadline_;
  SpanLog log_;
  OrderedRing<accel::Ticket> ring_;
};

}  // namespace frostline::pipeline
