#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "frostline/data/dataset_writer.h"

namespace frostline::data {

inline WriterOptions small_options(const std::string& codec) {
  WriterOptions options;
  options.fps = 50;
  options.cameras = {{"observation.images.top", 64, 96, codec}};
  options.features = {{"observation.state", DType::kF32, {3}},
                      {"action", DType::kF32, {2}},
                      {"reward", DType::kF32, {1}}};
  return options;
}

/// A still gradient and a bright block that moves with the frame.
inline std::vector<std::uint8_t> picture(const Camera& camera,
                                         std::int64_t episode,
                                         std::int64_t frame) {
  std::vector<std::uint8_t> rgb(camera.num_bytes());
  const std::int64_t block_x = (frame * 3 + episode * 20) % (camera.width_px - 16);
  for (std::int64_t y = 0; y < camera.height_px; ++y) {
    for (std::int64_t x = 0; x < camera.width_px; ++x) {
      std::uint8_t* pixel = rgb.data() + (y * camera.width_px + x) * 3;
      const bool is_block = x >= block_x && x < block_x + 16 && y >= 16 && y < 32;
      pixel[0] = static_cast<std::uint8_t>(is_block ? 230 : 40 + y);
      pixel[1] = static_cast<std::uint8_t>(is_block ? 60 : 50 + x);
      pixel[2] = static_cast<std::uint8_t>(is_block ? 40 : 90);
    }
  }
  return rgb;
}

inline float value(std::int64_t episode, std::int64_t frame, std::size_t dimension) {
  return static_cast<float>(episode * 100 + frame) + 0.25F * static_cast<float>(dimension + 1);
}

inline void record_episode(DatasetWriter& writer,
                           const WriterOptions& options,
                           std::int64_t episode,
                           std::int64_t length) {
  writer.begin_episode(episode % 2 == 0 ? "lift the cube" : "hand over");
  for (std::int64_t frame = 0; frame < length; ++frame) {
    std::vector<std::vector<float>> features;
    FrameData data;
    for (const Feature& feature : options.features) {
      auto& values = features.emplace_back();
      for (std::int64_t i = 0; i < num_elements(feature.shape); ++i) {
        values.push_back(value(episode, frame, static_cast<std::size_t>(i)));
      }
    }
    data.features.assign(features.begin(), features.end());
    std::vector<std::vector<std::uint8_t>> images;
    for (const Camera& camera : options.cameras) {
      images.push_back(picture(camera, episode, frame));
    }
    data.images.assign(images.begin(), images.end());
    writer.add_frame(data);
  }
  writer.end_episode();
}

inline void record(const std::filesystem::path& root,
                   const WriterOptions& options,
                   const std::vector<std::int64_t>& lengths) {
  const auto writer = create_lerobot_writer(root, options);
  for (std::size_t episode = 0; episode < lengths.size(); ++episode) {
    record_episode(*writer, options, static_cast<std::int64_t>(episode), lengths[episode]);
  }
  writer->finish();
}

inline double mean_difference(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
  }
  return sum / static_cast<double>(a.size());
}

}  // namespace frostline::data
