#include "frostline/data/describe.h"

#include <algorithm>

namespace frostline::data {

Json describe(const Dataset& dataset) {
  const DatasetInfo& info = dataset.info();
  Json cameras = Json::array();
  for (const Camera& camera : info.cameras) {
    cameras.push_back({{"name", camera.name},
                       {"height_px", camera.height_px},
                       {"width_px", camera.width_px},
                       {"codec", camera.codec}});
  }
  Json features = Json::array();
  for (const Feature& feature : info.features) {
    features.push_back(
        {{"name", feature.name}, {"dtype", to_string(feature.dtype)}, {"shape", feature.shape}});
  }
  std::int64_t shortest = info.num_frames;
  std::int64_t longest = 0;
  for (const std::int64_t episode : dataset.episodes()) {
    shortest = std::min(shortest, dataset.frame_range(episode).length());
    longest = std::max(longest, dataset.frame_range(episode).length());
  }
  return {{"path", info.root.string()},
          {"format", info.format},
          {"version", info.version},
          {"robot_type", info.robot_type},
          {"fps", info.fps},
          {"episodes", info.num_episodes},
          {"frames", info.num_frames},
          {"duration_s", static_cast<double>(info.num_frames) / static_cast<double>(info.fps)},
          {"episode_lengths", {{"shortest", shortest}, {"longest", longest}}},
          {"cameras", std::move(cameras)},
          {"features", std::move(features)},
          {"tasks", info.tasks},
          {"fingerprint", dataset.fingerprint().hex}};
}

Json describe(std::span<const Finding> findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"severity", finding.severity == Severity::kError ? "error" : "warning"},
                    {"code", finding.code},
                    {"file", finding.file},
                    {"episode", finding.episode ? Json(*finding.episode) : Json(nullptr)},
                    {"frame", finding.frame ? Json(*finding.frame) : Json(nullptr)},
                    {"message", finding.message},
                    {"remedy", finding.remedy}});
  }
  return {{"findings", std::move(list)}};
}

}  // namespace frostline::data
