#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace frostline::data {

/// True when this build can read and write video (FFmpeg).
bool is_video_supported();

/// What the header of a video file says.
struct VideoProbe {
  std::string codec;    ///< `av1`, `h264`, …
  std::string decoder;  ///< What decodes it here, for example `libdav1d`.
  std::int64_t height_px = 0;
  std::int64_t width_px = 0;
  std::int64_t num_frames = 0;
  double fps_hz = 0.0;
};

/// Reads the header only. Errors: `kIo` when there is no file; `kData` when it is no video or is
/// truncated; `kUnsupported` without FFmpeg or without a decoder for it.
VideoProbe probe_video(const std::filesystem::path& path);

/// Where the frames of a video file are: made once, shared by its decoders. Immutable.
class VideoIndex {
 public:
  struct Frame {
    std::int64_t pts = 0;
    std::int64_t key_dts = 0;    ///< Where to seek to.
    std::int64_t key_frame = 0;  ///< Index of the key frame that decoding has to start at.
  };

  /// Reads every packet's header. Errors: as `probe_video`.
  explicit VideoIndex(const std::filesystem::path& path);

  /// In order of presentation.
  std::span<const Frame> frames() const { return frames_; }

 private:
  std::vector<Frame> frames_;
};

/// Decodes frames of one file by number. Reads forward within a group of pictures do not seek. One
/// thread.
///
/// Colours: limited-range YUV as the stream says (BT.709 when it says so, else BT.601, as LeRobot's
/// decoders take it) becomes full-range RGB in `PixelConverter`, the only place.
class VideoDecoder {
 public:
  VideoDecoder(const std::filesystem::path& path, std::shared_ptr<const VideoIndex> index);
  VideoDecoder(VideoDecoder&&) noexcept;
  VideoDecoder& operator=(VideoDecoder&&) noexcept;
  VideoDecoder(const VideoDecoder&) = delete;
  VideoDecoder& operator=(const VideoDecoder&) = delete;
  ~VideoDecoder();

  /// Shape: `out` is [height, width, 3]. Errors: `kData` naming file and frame.
  void read(std::int64_t frame_index, std::span<std::uint8_t> out);

  /// Frames that would have to be decoded to reach `frame_index` from here.
  std::int64_t cost_of(std::int64_t frame_index) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// How a video is encoded.
struct VideoEncoderOptions {
  std::string codec = "av1";  ///< `av1` (SVT-AV1) or `h264` (x264).
  std::int64_t height_px = 0;
  std::int64_t width_px = 0;
  std::int64_t fps = 0;
  int crf = 30;
  int gop = 2;
  int preset = 8;  ///< Of SVT-AV1; x264 uses `medium`.
};

/// Encodes an MP4 file, 4:2:0, limited-range BT.601. The same frames and options give the same
/// bytes with the same encoder version. One thread.
class VideoEncoder {
 public:
  /// Errors: `kUnsupported` when the encoder is not built in; `kUsage` for odd or tiny sizes.
  VideoEncoder(const std::filesystem::path& path, const VideoEncoderOptions& options);
  VideoEncoder(const VideoEncoder&) = delete;
  VideoEncoder& operator=(const VideoEncoder&) = delete;
  VideoEncoder(VideoEncoder&&) = delete;
  VideoEncoder& operator=(VideoEncoder&&) = delete;
  ~VideoEncoder();

  void add(std::span<const std::uint8_t> rgb);
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Errors: as the constructor of `VideoEncoder`, without making one.
void require_video_encoder(const VideoEncoderOptions& options);

/// Writes the packets of `first`, then those of `second`, to `out` without decoding. Returns false,
/// with nothing written, when their streams differ in codec, size or decoder configuration.
bool join_videos(const std::filesystem::path& first,
                 const std::filesystem::path& second,
                 std::int64_t fps,
                 const std::filesystem::path& out);

/// Decodes one PNG or JPEG image. Shape: `out` is [height, width, 3].
/// Errors: `kData` when it is damaged or of another size; `kUnsupported` without FFmpeg.
void decode_compressed_image(std::string_view bytes,
                             std::int64_t height_px,
                             std::int64_t width_px,
                             std::span<std::uint8_t> out);

/// `codec` is `png` or `jpeg`.
std::string encode_compressed_image(const std::string& codec,
                                    std::int64_t height_px,
                                    std::int64_t width_px,
                                    std::span<const std::uint8_t> rgb);

}  // namespace frostline::data
