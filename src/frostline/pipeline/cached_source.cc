#include "frostline/pipeline/cached_source.h"

#include <cstring>

#include <fmt/format.h>

#include "frostline/core/clock.h"
#include "frostline/core/error.h"

namespace frostline::pipeline {

CachedSource::CachedSource(FeatureStore store,
                           const data::Sampler& sampler,
                           std::int64_t batch_size)
    : store_(std::move(store)), sampler_(sampler), batch_size_(batch_size), spec_(store_.spec()) {
  FROSTLINE_REQUIRE(
      store_.num_anchors() == sampler.num_anchors(),
      ErrorCode::kData,
      "feature store holds another number of frames than the data set has anchors",
      fmt::format(
          "store={} data set={} ; build it again", store_.num_anchors(), sampler.num_anchors()));
  for (auto& spec : spec_) {
    spec.shape.insert(spec.shape.begin(), batch_size);
  }
}

void CachedSource::start(std::int64_t first_step, std::int64_t num_steps) {
  FROSTLINE_REQUIRE(step_ < 0, ErrorCode::kUsage, "source was already started", "");
  step_ = first_step;
  end_ = first_step + num_steps;
}

std::int64_t CachedSource::next(std::span<const std::span<std::byte>> buffers) {
  FROSTLINE_CHECK(step_ < end_);
  check_buffers(spec_, buffers);
  const auto begin_ns = Clock::steady().now_ns();
  std::size_t sample = 0;
  for (const auto index : sampler_.batch(step_, batch_size_)) {
    auto bytes = store_.anchor(index);
    for (std::size_t t = 0; t < spec_.size(); ++t) {
      const std::size_t size = spec_[t].num_bytes() / static_cast<std::size_t>(batch_size_);
      std::memcpy(buffers[t].data() + sample * size, bytes.data(), size);
      bytes = bytes.subspan(size);
    }
    ++sample;
  }
  const auto end_ns = Clock::steady().now_ns();
  log_.add({"store", "transfer", step_, begin_ns, end_ns});
  ++step_;
  return end_ns - begin_ns;
}

}  // namespace frostline::pipeline
