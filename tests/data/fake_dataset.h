#pragma once

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "frostline/core/error.h"
#include "frostline/data/dataset.h"

namespace frostline::data {

/// A data set without files: episodes of given lengths, images filled with a number of the frame.
class FakeDataset final : public Dataset {
 public:
  explicit FakeDataset(std::initializer_list<std::pair<const std::int64_t, std::int64_t>> lengths) {
    std::int64_t begin = 0;
    for (const auto& [episode, length] : lengths) {
      episodes_.push_back(episode);
      ranges_[episode] = {begin, begin + length};
      begin += length;
    }
    info_.cameras = {{"camera", 2, 2, "raw"}};
    info_.num_frames = begin;
  }

  const DatasetInfo& info() const override { return info_; }

  std::span<const std::int64_t> episodes() const override { return episodes_; }

  FrameRange frame_range(std::int64_t episode) const override {
    if (!ranges_.contains(episode)) {
      throw Error(ErrorCode::kUsage, "data set has no such episode", std::to_string(episode));
    }
    return ranges_.at(episode);
  }

  const HostTensor& column(const std::string& feature) const override {
    throw Error(ErrorCode::kData, "no feature", feature);
  }

  void read_image(const std::string& /*camera*/,
                  FrameId frame,
                  std::span<std::uint8_t> out) const override {
    ++num_reads;
    std::fill(out.begin(), out.end(), static_cast<std::uint8_t>(frame.frame_index));
  }

  const FeatureStatistics& statistics(const std::string& feature) const override {
    throw Error(ErrorCode::kData, "no statistics", feature);
  }

  Fingerprint fingerprint() const override { return {}; }

  std::vector<Finding> verify() const override { return {}; }

  mutable std::atomic<int> num_reads{0};

 private:
  DatasetInfo info_;
  std::vector<std::int64_t> episodes_;
  std::map<std::int64_t, FrameRange> ranges_;
};

}  // namespace frostline::data
