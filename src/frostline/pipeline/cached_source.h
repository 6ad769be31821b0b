#pragma once

#include <vector>

#include "frostline/data/sampler.h"
#include "frostline/pipeline/feature_source.h"
#include "frostline/pipeline/feature_store.h"
#include "frostline/pipeline/span_log.h"

namespace frostline::pipeline {

/// Delivers stored boundary tensors: the codes that `LiveSource` would deliver, bit for bit.
class CachedSource final : public FeatureSource {
 public:
  /// `sampler` outlives the source. Errors: `kData` when the store holds other anchors.
  CachedSource(FeatureStore store, const data::Sampler& sampler, std::int64_t batch_size);

  const std::vector<TensorSpec>& spec() const override { return spec_; }

  void start(std::int64_t first_step, std::int64_t num_steps) override;
  std::int64_t next(std::span<const std::span<std::byte>> buffers) override;

  std::vector<Span> take_spans() override { return log_.take(); }

 private:
  FeatureStore store_;
  const data::Sampler& sampler_;
  std::int64_t batch_size_;
  std::vector<TensorSpec> spec_;
  SpanLog log_;
  std::int64_t step_ = -1;
  std::int64_t end_ = -1;
};

}  // namespace frostline::pipeline
