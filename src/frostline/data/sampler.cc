#include "frostline/data/sampler.h"

#include <array>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/core/random.h"

namespace frostline::data {

/// The permutations of the two epochs asked for last: batches run through one epoch and cross into
/// the next.
struct Sampler::Orders {
  using Order = std::shared_ptr<const std::vector<std::int64_t>>;

  std::mutex mutex;
  std::array<std::int64_t, 2> epochs{-1, -1};
  std::array<Order, 2> orders;

  Order get(std::int64_t epoch, std::int64_t num_anchors, std::uint64_t seed) {
    const auto slot = static_cast<std::size_t>(epoch % 2);
    const std::lock_guard lock(mutex);
    if (epochs[slot] != epoch) {
      Random random(seed, RandomStream::kSampler, static_cast<std::uint64_t>(epoch));
      orders[slot] = std::make_shared<const std::vector<std::int64_t>>(
          random_permutation(num_anchors, random));
      epochs[slot] = epoch;
    }
    return orders[slot];
  }
};

Sampler::Sampler(const Dataset& dataset,
                 std::span<const std::int64_t> episodes,
                 std::int64_t stride,
                 std::uint64_t seed)
    : seed_(seed), orders_(std::make_shared<Orders>()) {
  FROSTLINE_REQUIRE(stride > 0,
                    ErrorCode::kUsage,
                    "stride of the sampler is not positive",
                    fmt::format("stride={}", stride));
  std::set<std::int64_t> selected;
  for (const std::int64_t episode : episodes) {
    dataset.frame_range(episode);
    FROSTLINE_REQUIRE(selected.insert(episode).second,
                      ErrorCode::kUsage,
                      "episode is selected twice",
                      fmt::format("episode={}", episode));
  }
  for (const std::int64_t episode : dataset.episodes()) {
    if (selected.contains(episode)) {
      const std::int64_t length = dataset.frame_range(episode).length();
      for (std::int64_t frame = 0; frame < length; frame += stride) {
        anchors_.push_back({episode, frame});
      }
    }
  }
  FROSTLINE_REQUIRE(
      !anchors_.empty(),
      ErrorCode::kData,
      "there is no frame to train on",
      fmt::format("path={} episodes_selected={}", dataset.info().root.string(), selected.size()));
}

std::vector<std::int64_t> Sampler::batch(std::int64_t step, std::int64_t batch_size) const {
  FROSTLINE_CHECK(step >= 0 && batch_size > 0);
  std::vector<std::int64_t> indices;
  indices.reserve(static_cast<std::size_t>(batch_size));
  std::int64_t position = step * batch_size;
  const std::int64_t end = position + batch_size;
  while (position < end) {
    const auto order = orders_->get(position / num_anchors(), num_anchors(), seed_);
    auto at = static_cast<std::size_t>(position % num_anchors());
    for (; position < end && at < order->size(); ++position, ++at) {
      indices.push_back((*order)[at]);
    }
  }
  return indices;
}

}  // namespace frostline::data
