#include "frostline/core/error.h"
#include "frostline/data/library_versions.h"
#include "frostline/data/video/video.h"

namespace frostline::data {

std::string ffmpeg_version() {
  return {};
}

namespace {

[[noreturn]] void unsupported(const std::string& what) {
  throw Error(ErrorCode::kUnsupported,
              "this build cannot read or write video, PNG or JPEG",
              what +
                  " ; install FFmpeg's development files and build with "
                  "-DFROSTLINE_WITH_FFMPEG=ON, or use a data set with `raw` images");
}

}  // namespace

struct VideoDecoder::Impl {};

struct VideoEncoder::Impl {};

bool is_video_supported() {
  return false;
}

VideoProbe probe_video(const std::filesystem::path& path) {
  unsupported("file=" + path.string());
}

VideoIndex::VideoIndex(const std::filesystem::path& path) {
  unsupported("file=" + path.string());
}

VideoDecoder::VideoDecoder(const std::filesystem::path& path,
                           std::shared_ptr<const VideoIndex> /*index*/) {
  unsupported("file=" + path.string());
}

VideoDecoder::VideoDecoder(VideoDecoder&&) noexcept = default;
VideoDecoder& VideoDecoder::operator=(VideoDecoder&&) noexcept = default;
VideoDecoder::~VideoDecoder() = default;

void VideoDecoder::read(std::int64_t /*frame_index*/, std::span<std::uint8_t> /*out*/) {
  unsupported("frame");
}

std::int64_t VideoDecoder::cost_of(std::int64_t /*frame_index*/) const {
  return 0;
}

VideoEncoder::VideoEncoder(const std::filesystem::path& path,
                           const VideoEncoderOptions& /*options*/) {
  unsupported("file=" + path.string());
}

VideoEncoder::~VideoEncoder() = default;

void VideoEncoder::add(std::span<const std::uint8_t> /*rgb*/) {
  unsupported("frame");
}

void VideoEncoder::finish() {
  unsupported("video");
}

void require_video_encoder(const VideoEncoderOptions& options) {
  unsupported("codec=" + options.codec);
}

bool join_videos(const std::filesystem::path& /*first*/,
                 const std::filesystem::path& /*second*/,
                 std::int64_t /*fps*/,
                 const std::filesystem::path& out) {
  unsupported("file=" + out.string());
}

void decode_compressed_image(std::string_view /*bytes*/,
                             std::int64_t /*height_px*/,
                             std::int64_t /*width_px*/,
                             std::span<std::uint8_t> /*out*/) {
  unsupported("image");
}

std::string encode_compressed_image(const std::string& codec,
                                    std::int64_t /*height_px*/,
                                    std::int64_t /*width_px*/,
                                    std::span<const std::uint8_t> /*rgb*/) {
  unsupported("codec=" + codec);
}

}  // namespace frostline::data
