#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/data/lerobot/content.h"
#include "frostline/data/video/video.h"

namespace frostline::data {

namespace fs = std::filesystem;

namespace {

/// LeRobot's `tolerance_s`.
constexpr double kTolerance_s = 1e-4;

/// One video file of one camera, and the episodes in it.
struct UsedVideo {
  std::size_t camera = 0;
  std::string file;
  std::vector<const Episode*> episodes;
};

std::vector<UsedVideo> used_videos(const LeRobotContent& content) {
  std::vector<UsedVideo> videos;
  for (std::size_t camera = 0; camera < content.meta.info.cameras.size(); ++camera) {
    if (!content.meta.camera_is_video[camera]) {
      continue;
    }
    const std::size_t first = videos.size();
    for (const Episode& episode : content.episodes) {
      const std::string& file = episode.videos[camera].file;
      auto found = std::find_if(videos.begin() + static_cast<std::ptrdiff_t>(first),
                                videos.end(),
                                [&](const UsedVideo& video) { return video.file == file; });
      if (found == videos.end()) {
        found = videos.insert(videos.end(), {camera, file, {}});
      }
      found->episodes.push_back(&episode);
    }
  }
  return videos;
}

class VideoChecker {
 public:
  VideoChecker(const LeRobotContent& content, const UsedVideo& video, Findings& findings)
      : content_(content),
        video_(video),
        path_(content.meta.info.root / video.file),
        findings_(findings) {}

  void check() {
    if (!fs::exists(path_)) {
      add("missing_file", fmt::format("video file is missing ; needed by {}", needed_by()));
      return;
    }
    if (!is_video_supported()) {
      return;
    }
    try {
      check_header(probe_video(path_));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kUnsupported) {
        throw;
      }
      add("damaged_file", fmt::format("{} ; needed by {}", error.what(), needed_by()));
    }
  }

 private:
  void check_header(const VideoProbe& probe) {
    const Camera& camera = content_.meta.info.cameras[video_.camera];
    const auto fps = static_cast<double>(content_.meta.info.fps);
    // A container states the rate as the ratio of two integers.
    if (std::abs(probe.fps_hz - fps) > 1e-3 * fps) {
      add("fps_mismatch",
          fmt::format("video and data set differ in fps: video_fps={:.6g} fps={} ; used by {}",
                      probe.fps_hz,
                      content_.meta.info.fps,
                      needed_by()));
    }
    if (probe.height_px != camera.height_px || probe.width_px != camera.width_px) {
      add("bad_shape",
          fmt::format("video has another size than info.json says: camera={} video={}x{} "
                      "info={}x{} (height x width)",
                      camera.name,
                      probe.height_px,
                      probe.width_px,
                      camera.height_px,
                      camera.width_px));
    }
    for (const Episode* episode : video_.episodes) {
      const std::int64_t needed =
          episode->videos[video_.camera].first_frame + episode->range.length();
      if (needed > probe.num_frames) {
        add("video_too_short",
            fmt::format("video ends before its episode: episode={} frames_in_video={} "
                        "frames_needed={}",
                        episode->index,
                        probe.num_frames,
                        needed),
            episode->index);
      }
    }
  }

  std::string needed_by() const {
    std::vector<std::int64_t> indices;
    for (const Episode* episode : video_.episodes) {
      indices.push_back(episode->index);
    }
    return describe_episodes(indices);
  }

  void add(std::string code, std::string message, std::optional<std::int64_t> episode = {}) {
    findings_.push_back({Severity::kError,
                         std::move(code),
                         path_.string(),
                         episode,
                         std::nullopt,
                         std::move(message),
                         "restore the file from its source, or leave these episodes out"});
  }

  const LeRobotContent& content_;
  const UsedVideo& video_;
  fs::path path_;
  Findings& findings_;
};

bool is_automatic(const std::string& feature) {
  return std::ranges::find(kAutomaticFeatures, feature) != std::end(kAutomaticFeatures);
}

const Episode& episode_of(const LeRobotContent& content, std::int64_t frame) {
  return *std::ranges::upper_bound(
      content.episodes, frame, {}, [](const Episode& episode) { return episode.range.end; });
}

void check_feature(const LeRobotContent& content, const std::string& name, Findings& findings) {
  const HostTensor& column = content.columns.at(name);
  const std::span<const float> values = column.data<float>();
  const std::int64_t num_frames = column.shape()[0];
  const std::int64_t dim = column.shape()[1];
  for (std::int64_t i = 0; i < dim; ++i) {
    float low = INFINITY;
    float high = -INFINITY;
    std::int64_t first_bad = -1;
    std::int64_t num_bad = 0;
    for (std::int64_t frame = 0; frame < num_frames; ++frame) {
      const float value = values[static_cast<std::size_t>(frame * dim + i)];
      if (!std::isfinite(value)) {
        first_bad = first_bad < 0 ? frame : first_bad;
        ++num_bad;
        continue;
      }
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (first_bad >= 0) {
      const Episode& episode = episode_of(content, first_bad);
      findings.push_back(
          {Severity::kWarning,
           "not_finite",
           (content.meta.info.root / episode.data_file).string(),
           episode.index,
           first_bad - episode.range.begin,
           fmt::format(
               "values are not finite: feature={} dimension={} frames={}", name, i, num_bad),
           "leave the episode out of training: its loss would not be finite"});
    }
    if (low == high && num_frames > 1) {
      add_warning(
          findings,
          "constant_dimension",
          content.meta.info.root,
          fmt::format("dimension never changes: feature={} dimension={} value={}", name, i, low),
          "none needed: its standard deviation is floored when it is normalised");
    }
  }
}

void check_timestamps(const LeRobotContent& content, Findings& findings) {
  const auto found = content.columns.find("timestamp");
  if (found == content.columns.end() || found->second.shape()[1] != 1) {
    return;
  }
  const std::span<const float> timestamps = found->second.data<float>();
  for (const Episode& episode : content.episodes) {
    for (std::int64_t frame = 0; frame < episode.range.length(); ++frame) {
      const double expected =
          static_cast<double>(frame) / static_cast<double>(content.meta.info.fps);
      const double stored = timestamps[static_cast<std::size_t>(episode.range.begin + frame)];
      if (!(std::abs(stored - expected) < kTolerance_s)) {
        findings.push_back(
            {Severity::kWarning,
             "timestamp_drift",
             (content.meta.info.root / episode.data_file).string(),
             episode.index,
             frame,
             fmt::format("time stamp is not frame_index / fps: stored={} expected={} tolerance={}",
                         stored,
                         expected,
                         kTolerance_s),
             "none needed here: frames are addressed by their number, not by their time"});
        break;
      }
    }
  }
}

}  // namespace

void check_videos(const LeRobotContent& content, Findings& findings) {
  for (const UsedVideo& video : used_videos(content)) {
    VideoChecker(content, video, findings).check();
  }
}

void check_columns(const LeRobotContent& content, Findings& findings) {
  for (const Feature& feature : content.meta.info.features) {
    if (!is_automatic(feature.name) && content.columns.contains(feature.name)) {
      check_feature(content, feature.name, findings);
    }
  }
  check_timestamps(content, findings);
}

}  // namespace frostline::data
