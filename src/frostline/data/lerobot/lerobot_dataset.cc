#include "frostline/data/lerobot/lerobot_dataset.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/core/file.h"
#include "frostline/core/log.h"
#include "frostline/data/image_codec.h"
#include "frostline/data/lerobot/content.h"
#include "frostline/data/lerobot/parquet_images.h"
#include "frostline/data/video/decoder_pool.h"

namespace frostline::data {

namespace fs = std::filesystem;

namespace {

/// A decoder of a 240 x 320 stream holds 2 to 3 MB.
constexpr std::size_t kMaxDecoders = 32;
constexpr std::size_t kMaxRowGroups = 16;

template <class Range, class Projection>
std::string join_names(const Range& range, Projection projection) {
  std::vector<std::string> names;
  for (const auto& element : range) {
    names.push_back(std::invoke(projection, element));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

class LeRobotDataset final : public Dataset {
 public:
  LeRobotDataset(LeRobotContent content, Findings warnings)
      : content_(std::move(content)), warnings_(std::move(warnings)) {
    DatasetInfo& info = content_.meta.info;
    info.num_episodes = std::ssize(content_.episodes);
    info.num_frames = content_.episodes.back().range.end;
    for (const Episode& episode : content_.episodes) {
      episode_indices_.push_back(episode.index);
    }
  }

  const DatasetInfo& info() const override { return content_.meta.info; }

  std::span<const std::int64_t> episodes() const override { return episode_indices_; }

  FrameRange frame_range(std::int64_t episode_index) const override {
    return episode(episode_index).range;
  }

  const HostTensor& column(const std::string& feature) const override {
    const auto found = content_.columns.find(feature);
    FROSTLINE_REQUIRE(
        found != content_.columns.end(),
        ErrorCode::kData,
        "data set has no such numeric feature",
        fmt::format("feature={} path={} ; it has: {}",
                    feature,
                    info().root.string(),
                    join_names(content_.columns, [](const auto& entry) { return entry.first; })));
    return found->second;
  }

  void read_image(const std::string& camera,
                  FrameId frame,
                  std::span<std::uint8_t> out) const override {
    const std::size_t index = camera_index(camera);
    const Camera& stream = info().cameras[index];
    const Episode& from = episode(frame.episode_index);
    FROSTLINE_REQUIRE(frame.frame_index >= 0 && frame.frame_index < from.range.length(),
                      ErrorCode::kUsage,
                      "episode has no such frame",
                      fmt::format("episode={} frame={} length={}",
                                  frame.episode_index,
                                  frame.frame_index,
                                  from.range.length()));
    FROSTLINE_REQUIRE(
        out.size() == stream.num_bytes(),
        ErrorCode::kUsage,
        "buffer has another size than the camera's images",
        fmt::format("camera={} bytes={} expected={}", camera, out.size(), stream.num_bytes()));
    const bool is_video = content_.meta.camera_is_video[index];
    const fs::path file = info().root / (is_video ? from.videos[index].file : from.data_file);
    try {
      if (is_video) {
        decoders_.read(file, from.videos[index].first_frame + frame.frame_index, out);
      } else {
        decode_image(stream, images_.read(file, camera, from.first_row + frame.frame_index), out);
      }
    } catch (const Error& error) {
      throw Error(error.code(),
                  "cannot read image",
                  fmt::format("camera={} episode={} frame={} file={} ; {}",
                              camera,
                              frame.episode_index,
                              frame.frame_index,
                              file.string(),
                              error.what()));
    }
  }

  const FeatureStatistics& statistics(const std::string& feature) const override {
    const auto found = content_.statistics.find(feature);
    FROSTLINE_REQUIRE(
        found != content_.statistics.end(),
        ErrorCode::kData,
        "data set stores no statistics for the feature",
        fmt::format("feature={} file={}", feature, (info().root / kStatisticsFile).string()));
    return found->second;
  }

  Fingerprint fingerprint() const override {
    std::call_once(fingerprint_once_, [&] { fingerprint_ = compute_fingerprint(); });
    return fingerprint_;
  }

  std::vector<Finding> verify() const override {
    Findings findings = warnings_;
    check_columns(content_, findings);
    return findings;
  }

 private:
  const Episode& episode(std::int64_t episode_index) const {
    const auto found =
        std::ranges::lower_bound(content_.episodes, episode_index, {}, &Episode::index);
    FROSTLINE_REQUIRE(found != content_.episodes.end() && found->index == episode_index,
                      ErrorCode::kUsage,
                      "data set has no such episode",
                      fmt::format("episode={} path={} ; it has {}",
                                  episode_index,
                                  info().root.string(),
                                  describe_episodes(episode_indices_)));
    return *found;
  }

  std::size_t camera_index(const std::string& camera) const {
    const auto found = std::ranges::find(info().cameras, camera, &Camera::name);
    FROSTLINE_REQUIRE(found != info().cameras.end(),
                      ErrorCode::kData,
                      "data set has no such camera",
                      fmt::format("camera={} path={} ; it has: {}",
                                  camera,
                                  info().root.string(),
                                  join_names(info().cameras, &Camera::name)));
    return static_cast<std::size_t>(found - info().cameras.begin());
  }

  Fingerprint compute_fingerprint() const {
    std::set<std::string> files{kInfoFile, kTasksFile};
    files.insert(content_.episode_files.begin(), content_.episode_files.end());
    for (const Episode& from : content_.episodes) {
      files.insert(from.data_file);
      for (const EpisodeVideo& video : from.videos) {
        if (!video.file.empty()) {
          files.insert(video.file);
        }
      }
    }
    Fingerprinter fingerprinter;
    fingerprinter.add(std::string_view("lerobot v3"));
    for (const std::string& file : files) {
      const MappedFile mapped(info().root / file);
      fingerprinter.add(std::string_view(file));
      fingerprinter.add(static_cast<std::int64_t>(mapped.bytes().size()));
      fingerprinter.add(mapped.bytes());
    }
    return fingerprinter.finish();
  }

  LeRobotContent content_;
  Findings warnings_;
  std::vector<std::int64_t> episode_indices_;
  mutable DecoderPool decoders_{kMaxDecoders};
  mutable ParquetImages images_{kMaxRowGroups};
  mutable std::once_flag fingerprint_once_;
  mutable Fingerprint fingerprint_;
};

}  // namespace

std::unique_ptr<Dataset> open_lerobot(const fs::path& root) {
  LeRobotContent content;
  Findings findings;
  load_content(root, content, findings);
  const auto first = std::ranges::find(findings, Severity::kError, &Finding::severity);
  if (first != findings.end()) {
    const auto num_errors = std::ranges::count(findings, Severity::kError, &Finding::severity);
    throw Error(ErrorCode::kData,
                first->message,
                fmt::format("file={} ; {}{}",
                            first->file,
                            first->remedy,
                            num_errors > 1
                                ? fmt::format(" ; {} more errors: run 'frostline data verify {}'",
                                              num_errors - 1,
                                              root.string())
                                : ""));
  }
  for (const Finding& finding : findings) {
    log_warning("{}: file={} ; {}", finding.message, finding.file, finding.remedy);
  }
  return std::make_unique<LeRobotDataset>(std::move(content), std::move(findings));
}

std::vector<Finding> verify_lerobot(const fs::path& root) {
  LeRobotContent content;
  Findings findings;
  load_content(root, content, findings);
  const bool is_readable =
      std::ranges::find(findings, Severity::kError, &Finding::severity) == findings.end();
  if (is_readable) {
    check_columns(content, findings);
  }
  return findings;
}

}  // namespace frostline::data
