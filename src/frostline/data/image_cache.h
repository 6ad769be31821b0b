#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <shared_mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frostline/data/dataset.h"

namespace frostline::data {

/// Keeps decoded images of a data set in memory, so that later epochs copy instead of decoding.
/// Thread-safe.
///
/// It fills until `capacity` and then keeps what it has: epochs visit every frame once in a new
/// random order, where throwing out the least recently used image would throw out those needed
/// next, and a kept set of the same size has the best hit rate there is.
class ImageCache {
 public:
  ImageCache(const Dataset& dataset, std::size_t capacity_bytes);

  /// As `Dataset::read_image`.
  void read(const std::string& camera, FrameId frame, std::span<std::uint8_t> out);

  std::size_t num_bytes() const;
  std::int64_t num_hits() const;
  std::int64_t num_misses() const;

 private:
  using Key = std::pair<std::string, FrameId>;

  const Dataset& dataset_;
  const std::size_t capacity_bytes_;
  mutable std::shared_mutex mutex_;
  std::map<Key, std::vector<std::uint8_t>> images_;
  std::size_t num_bytes_ = 0;
  std::atomic<std::int64_t> num_hits_{0};
  std::atomic<std::int64_t> num_misses_{0};
};

}  // namespace frostline::data
