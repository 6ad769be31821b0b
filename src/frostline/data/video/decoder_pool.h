#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "frostline/data/video/video.h"

namespace frostline::data {

/// Decodes frames of many files with a bounded number of decoders. Thread-safe: each read borrows
/// the idle decoder of the file that is nearest before the frame, makes one while the bound allows
/// it, and otherwise gives up the one used longest ago.
class DecoderPool {
 public:
  explicit DecoderPool(std::size_t max_decoders) : max_decoders_(max_decoders) {}

  /// Errors: as `VideoDecoder::read`.
  void read(const std::filesystem::path& path,
            std::int64_t frame_index,
            std::span<std::uint8_t> out);

 private:
  struct Entry {
    std::filesystem::path path;
    std::unique_ptr<VideoDecoder> decoder;
  };

  std::shared_ptr<const VideoIndex> index_of(const std::filesystem::path& path);
  Entry borrow(const std::filesystem::path& path, std::int64_t frame_index);
  void give_back(Entry entry);

  const std::size_t max_decoders_;
  std::mutex mutex_;
  std::condition_variable is_free_;
  std::list<Entry> idle_;  ///< Most recently used first.
  std::size_t num_decoders_ = 0;
  std::mutex index_mutex_;
  std::map<std::filesystem::path, std::shared_ptr<const VideoIndex>> indices_;
};

}  // namespace frostline::data
