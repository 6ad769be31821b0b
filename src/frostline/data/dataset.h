#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frostline/core/fingerprint.h"
#include "frostline/core/tensor.h"

namespace frostline::data {

/// One camera stream of a data set. Images are HWC uint8 RGB.
struct Camera {
  std::string name;  ///< Full feature name, for example `observation.images.top`.
  std::int64_t height_px = 0;
  std::int64_t width_px = 0;
  std::string codec;  ///< `av1`, `h264`, `png`, `raw`, …

  std::size_t num_bytes() const { return static_cast<std::size_t>(height_px * width_px * 3); }
};

/// One numeric column of a data set.
struct Feature {
  std::string name;  ///< For example `observation.state`.
  DType dtype = DType::kF32;
  Shape shape;
};

/// What a data set is, without its samples.
struct DatasetInfo {
  std::filesystem::path root;
  std::string format;   ///< `lerobot`.
  std::string version;  ///< `v3.0`.
  std::string robot_type;
  std::int64_t fps = 0;
  std::int64_t num_episodes = 0;
  std::int64_t num_frames = 0;
  std::vector<Camera> cameras;
  std::vector<Feature> features;
  std::vector<std::string> tasks;
};

/// Per-dimension statistics of one feature; images have one value per channel, in [0, 1].
struct FeatureStatistics {
  std::vector<double> min;
  std::vector<double> max;
  std::vector<double> mean;
  std::vector<double> std;
  /// Quantiles; empty when the data set stores none.
  std::vector<double> q01;
  std::vector<double> q10;
  std::vector<double> q50;
  std::vector<double> q90;
  std::vector<double> q99;
  std::int64_t count = 0;
};

/// Half-open range of frames of the whole data set.
struct FrameRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t length() const { return end - begin; }
};

/// Names one frame: the episode's `episode_index` value and the frame's place in it.
struct FrameId {
  std::int64_t episode_index = 0;
  std::int64_t frame_index = 0;

  friend bool operator==(const FrameId&, const FrameId&) = default;
  friend auto operator<=>(const FrameId&, const FrameId&) = default;
};

enum class Severity { kError, kWarning };

/// Something wrong with a data set, as `data verify` prints it.
struct Finding {
  Severity severity = Severity::kError;
  std::string code;  ///< Stable, snake_case, for example `missing_file`.
  std::string file;
  std::optional<std::int64_t> episode;
  std::optional<std::int64_t> frame;
  std::string message;
  std::string remedy;
};

/// A recorded data set, opened for reading. Threads: const members are thread-safe.
class Dataset {
 public:
  Dataset() = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  Dataset(Dataset&&) = delete;
  Dataset& operator=(Dataset&&) = delete;
  virtual ~Dataset() = default;

  virtual const DatasetInfo& info() const = 0;

  /// `episode_index` values in stored order.
  virtual std::span<const std::int64_t> episodes() const = 0;

  /// Errors: `kUsage` naming the value and the known ones when there is no such episode.
  virtual FrameRange frame_range(std::int64_t episode_index) const = 0;

  /// A whole numeric column as fp32, kept in memory. Shape: [num_frames, dim], frames in the order
  /// of `frame_range`. Errors: `kData` naming the feature and the known ones.
  virtual const HostTensor& column(const std::string& feature) const = 0;

  /// Writes one decoded image. Shape: [height, width, 3] uint8 RGB into `out` of exactly
  /// `Camera::num_bytes()`. Frames are found by integer arithmetic on frame indices.
  /// Errors: `kData` naming camera (and the known ones), file, episode and frame.
  virtual void read_image(const std::string& camera,
                          FrameId frame,
                          std::span<std::uint8_t> out) const = 0;

  /// Errors: `kData` naming the feature when the data set stores no statistics for it.
  virtual const FeatureStatistics& statistics(const std::string& feature) const = 0;

  /// Identity of content: metadata, data and video files.
  virtual Fingerprint fingerprint() const = 0;

  /// Every finding of a shallow check; never throws for what is wrong with the content.
  virtual std::vector<Finding> verify() const = 0;
};

/// Opens a data set of any supported format.
/// Errors: `kIo` when there is nothing at `path`; `kData` when a file is missing, truncated or of
/// another version, naming file, what was found and what to do.
std::unique_ptr<Dataset> open_dataset(const std::filesystem::path& path);

/// What `open_dataset` would refuse is returned as findings here.
std::vector<Finding> verify_dataset(const std::filesystem::path& path);

}  // namespace frostline::data
