#include "frostline/data/image_cache.h"

#include <algorithm>
#include <mutex>

#include "frostline/core/error.h"

namespace frostline::data {

ImageCache::ImageCache(const Dataset& dataset, std::size_t capacity_bytes)
    : dataset_(dataset), capacity_bytes_(capacity_bytes) {}

void ImageCache::read(const std::string& camera, FrameId frame, std::span<std::uint8_t> out) {
  const Key key(camera, frame);
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = images_.find(key); found != images_.end()) {
      FROSTLINE_CHECK(found->second.size() == out.size());
      std::ranges::copy(found->second, out.begin());
      ++num_hits_;
      return;
    }
  }
  dataset_.read_image(camera, frame, out);
  ++num_misses_;
  {
    const std::shared_lock lock(mutex_);
    if (num_bytes_ + out.size() > capacity_bytes_) {
      return;
    }
  }
  std::vector<std::uint8_t> copy(out.begin(), out.end());
  const std::lock_guard lock(mutex_);
  if (num_bytes_ + out.size() <= capacity_bytes_ &&
      images_.try_emplace(key, std::move(copy)).second) {
    num_bytes_ += out.size();
  }
}

std::size_t ImageCache::num_bytes() const {
  const std::shared_lock lock(mutex_);
  return num_bytes_;
}

std::int64_t ImageCache::num_hits() const {
  return num_hits_;
}

std::int64_t ImageCache::num_misses() const {
  return num_misses_;
}

}  // namespace frostline::data
