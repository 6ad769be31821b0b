#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frostline/data/dataset.h"

namespace frostline::data {

/// What a new data set will hold.
struct WriterOptions {
  std::string robot_type = "aloha";
  std::int64_t fps = 50;
  std::vector<Camera> cameras;    ///< `codec`: `av1` (needs FFmpeg) or `png`/`raw` inside Parquet.
  std::vector<Feature> features;  ///< Without the automatic ones (timestamp, frame_index, …).
  int video_crf = 30;             ///< Constant rate factor of AV1; higher is smaller.
  int video_gop = 2;              ///< Distance of key frames; 2 is LeRobot's default.
  int video_preset = 8;           ///< SVT-AV1 speed preset.
};

/// One frame to be stored; spans are in the order of `WriterOptions`.
struct FrameData {
  std::vector<std::span<const float>> features;
  std::vector<std::span<const std::uint8_t>> images;  ///< HWC uint8 RGB.
};

/// Writes a data set episode by episode. The same frames give the same bytes with every codec but
/// `h264`. One thread. A writer that is killed leaves every finished
/// episode readable.
class DatasetWriter {
 public:
  DatasetWriter() = default;
  DatasetWriter(const DatasetWriter&) = delete;
  DatasetWriter& operator=(const DatasetWriter&) = delete;
  DatasetWriter(DatasetWriter&&) = delete;
  DatasetWriter& operator=(DatasetWriter&&) = delete;
  virtual ~DatasetWriter() = default;

  /// Finished episodes, those of the recording that is being continued included.
  virtual std::int64_t num_episodes() const = 0;
  virtual void begin_episode(const std::string& task) = 0;
  /// Errors: `kUsage` when a shape disagrees with the options, `kNumeric` when a value is not
  /// finite.
  virtual void add_frame(const FrameData& frame) = 0;
  virtual void end_episode() = 0;
  /// Drops the episode in progress.
  virtual void discard_episode() = 0;
  /// Makes everything durable; no call may follow.
  virtual void finish() = 0;
};

/// Starts a LeRobot v3.0 data set in the new or empty folder `root`; an existing data set that this
/// writer left unfinished is continued after its last finished episode.
/// Errors: `kIo`; `kUnsupported` when a codec is not built in; `kData` when `root` holds a data set
/// of other features.
std::unique_ptr<DatasetWriter> create_lerobot_writer(const std::filesystem::path& root,
                                                     const WriterOptions& options);

}  // namespace frostline::data
