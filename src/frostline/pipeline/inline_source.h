#pragma once

#include <memory>
#include <vector>

#include "frostline/pipeline/batch_plan.h"
#include "frostline/pipeline/feature_source.h"
#include "frostline/pipeline/ordered_ring.h"
#include "frostline/pipeline/span_log.h"

namespace frostline::pipeline {

/// Delivers images: the encoder runs on the trainer's own device, so its features never cross host
/// memory. Decoding runs `depth` batches ahead in `num_workers` threads.
class InlineSource final : public FeatureSource {
 public:
  InlineSource(BatchPlan plan, int num_workers, int depth);

  const std::vector<TensorSpec>& spec() const override { return spec_; }

  void start(std::int64_t first_step, std::int64_t num_steps) override;
  std::int64_t next(std::span<const std::span<std::byte>> buffers) override;

  std::vector<Span> take_spans() override { return log_.take(); }

 private:
  BatchPlan plan_;
  std::vector<TensorSpec> spec_;
  SpanLog log_;
  OrderedRing<std::vector<std::byte>> ring_;
};

}  // namespace frostline::pipeline
