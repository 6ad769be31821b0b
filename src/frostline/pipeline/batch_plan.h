#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "frostline/data/dataset.h"
#include "frostline/data/sampler.h"

namespace frostline::pipeline {

/// Which frames each batch is made of and how their images are read; shared by every source, so
/// that the order of samples cannot depend on one.
struct BatchPlan {
  /// Shape: `out` is one HWC uint8 RGB image. Thread-safe.
  using ReadImage = std::function<void(data::FrameId frame, std::span<std::uint8_t> out)>;

  const data::Sampler* sampler = nullptr;  ///< Outlives the source.
  std::int64_t batch_size = 0;
  std::int64_t height_px = 0;
  std::int64_t width_px = 0;
  ReadImage read_image;

  std::size_t image_num_bytes() const { return static_cast<std::size_t>(height_px * width_px * 3); }

  /// Reads the images of batch `step` one after another into `out`.
  void read_batch(std::int64_t step, std::span<std::byte> out) const;
};

}  // namespace frostline::pipeline
