#include "frostline/data/video/decoder_pool.h"

#include <utility>

namespace frostline::data {

std::shared_ptr<const VideoIndex> DecoderPool::index_of(const std::filesystem::path& path) {
  {
    const std::lock_guard lock(index_mutex_);
    if (const auto found = indices_.find(path); found != indices_.end()) {
      return found->second;
    }
  }
  auto made = std::make_shared<const VideoIndex>(path);
  const std::lock_guard lock(index_mutex_);
  return indices_.try_emplace(path, std::move(made)).first->second;
}

DecoderPool::Entry DecoderPool::borrow(const std::filesystem::path& path,
                                       std::int64_t frame_index) {
  std::unique_lock lock(mutex_);
  is_free_.wait(lock, [&] { return !idle_.empty() || num_decoders_ < max_decoders_; });
  auto best = idle_.end();
  std::int64_t best_cost = 0;
  for (auto entry = idle_.begin(); entry != idle_.end(); ++entry) {
    if (entry->path == path) {
      const std::int64_t cost = entry->decoder->cost_of(frame_index);
      if (best == idle_.end() || cost < best_cost) {
        best = entry;
        best_cost = cost;
      }
    }
  }
  if (best != idle_.end()) {
    Entry entry = std::move(*best);
    idle_.erase(best);
    return entry;
  }
  if (num_decoders_ >= max_decoders_) {
    idle_.pop_back();
  } else {
    ++num_decoders_;
  }
  return {path, nullptr};
}

void DecoderPool::give_back(Entry entry) {
  {
    const std::lock_guard lock(mutex_);
    if (entry.decoder != nullptr) {
      idle_.push_front(std::move(entry));
    } else {
      --num_decoders_;
    }
  }
  is_free_.notify_one();
}

void DecoderPool::read(const std::filesystem::path& path,
                       std::int64_t frame_index,
                       std::span<std::uint8_t> out) {
  Entry entry = borrow(path, frame_index);
  try {
    if (entry.decoder == nullptr) {
      entry.decoder = std::make_unique<VideoDecoder>(path, index_of(path));
    }
    entry.decoder->read(frame_index, out);
  } catch (...) {
    give_back(std::move(entry));
    throw;
  }
  give_back(std::move(entry));
}

}  // namespace frostline::data
