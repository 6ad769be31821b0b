#include "frostline/data/video/ffmpeg_handles.h"

#include <array>
#include <cstring>

#include <fmt/format.h>

extern "C" {
#include <libavutil/avutil.h>
#include <libavutil/error.h>
#include <libavutil/pixdesc.h>
}

#include "frostline/data/library_versions.h"

namespace frostline::data {

std::string ffmpeg_version() {
  return av_version_info();
}

namespace fs = std::filesystem;

std::string ffmpeg_text(int error) {
  std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
  av_strerror(error, text.data(), text.size());
  return text.data();
}

int require_ffmpeg(int result, ErrorCode code, std::string_view what, const fs::path& path) {
  FROSTLINE_REQUIRE(
      result >= 0, code, what, fmt::format("file={} ; {}", path.string(), ffmpeg_text(result)));
  return result;
}

FramePointer make_frame() {
  FramePointer frame(av_frame_alloc());
  FROSTLINE_REQUIRE(frame != nullptr, ErrorCode::kResource, "out of memory", "a video frame");
  return frame;
}

PacketPointer make_packet() {
  PacketPointer packet(av_packet_alloc());
  FROSTLINE_REQUIRE(packet != nullptr, ErrorCode::kResource, "out of memory", "a video packet");
  return packet;
}

InputFile::InputFile(const fs::path& path) : path_(path) {
  av_log_set_level(AV_LOG_FATAL);
  const int opened = avformat_open_input(&context_, path.c_str(), nullptr, nullptr);
  require_ffmpeg(opened,
                 opened == AVERROR(ENOENT) ? ErrorCode::kIo : ErrorCode::kData,
                 "cannot open video file (missing, truncated or no video)",
                 path);
  const int stream = av_find_best_stream(context_, AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
  if (stream < 0) {
    avformat_close_input(&context_);
    throw Error(
        ErrorCode::kData, "file holds no video stream", fmt::format("file={}", path.string()));
  }
  for (unsigned i = 0; i < context_->nb_streams; ++i) {
    context_->streams[i]->discard =
        static_cast<int>(i) == stream ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
  }
  stream_ = context_->streams[stream];
}

InputFile::~InputFile() {
  avformat_close_input(&context_);
}

bool InputFile::read(AVPacket& packet) const {
  for (;;) {
    av_packet_unref(&packet);
    const int result = av_read_frame(context_, &packet);
    if (result == AVERROR_EOF) {
      return false;
    }
    require_ffmpeg(result, ErrorCode::kData, "video file is truncated or damaged", path_);
    if (packet.stream_index == stream_->index) {
      return true;
    }
  }
}

OutputFile::OutputFile(const fs::path& path) : path_(path) {
  constexpr std::string_view kWhat = "cannot create video file";
  require_ffmpeg(avformat_alloc_output_context2(&context_, nullptr, "mp4", path.c_str()),
                 ErrorCode::kIo,
                 kWhat,
                 path);
  // No creation time or library version in the file: the same frames give the same bytes.
  context_->flags |= AVFMT_FLAG_BITEXACT;
  stream_ = avformat_new_stream(context_, nullptr);
  const int opened = stream_ == nullptr ? AVERROR(ENOMEM)
                                        : avio_open(&context_->pb, path.c_str(), AVIO_FLAG_WRITE);
  if (opened < 0) {
    avformat_free_context(context_);
    require_ffmpeg(opened, ErrorCode::kIo, kWhat, path);
  }
}

OutputFile::~OutputFile() {
  avio_closep(&context_->pb);
  avformat_free_context(context_);
}

void OutputFile::write_header() const {
  require_ffmpeg(avformat_write_header(context_, nullptr),
                 ErrorCode::kIo,
                 "cannot write header of video file",
                 path_);
}

void OutputFile::write(AVPacket& packet) const {
  packet.stream_index = stream_->index;
  packet.pos = -1;
  require_ffmpeg(av_interleaved_write_frame(context_, &packet),
                 ErrorCode::kIo,
                 "cannot write video file",
                 path_);
}

void OutputFile::finish() {
  require_ffmpeg(av_write_trailer(context_), ErrorCode::kIo, "cannot finish video file", path_);
  require_ffmpeg(avio_closep(&context_->pb), ErrorCode::kIo, "cannot close video file", path_);
}

const AVCodec* find_decoder(AVCodecID id, const fs::path& path) {
  const AVCodec* decoder = nullptr;
  if (id == AV_CODEC_ID_AV1) {
    for (const char* name : {"libdav1d", "libaom-av1"}) {
      decoder = decoder != nullptr ? decoder : avcodec_find_decoder_by_name(name);
    }
  } else {
    decoder = avcodec_find_decoder(id);
  }
  FROSTLINE_REQUIRE(decoder != nullptr,
                    ErrorCode::kUnsupported,
                    "no software decoder for this video is built into FFmpeg",
                    fmt::format("codec={} file={} ; install an FFmpeg with libdav1d (AV1) or the "
                                "codec's own decoder",
                                avcodec_get_name(id),
                                path.string()));
  return decoder;
}

namespace {

constexpr int kFlags =
    SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP | SWS_BITEXACT;

int table_of(AVColorSpace space) {
  return space == AVCOL_SPC_BT709 ? SWS_CS_ITU709 : SWS_CS_ITU601;
}

bool is_full_range(const AVFrame& frame) {
  switch (frame.format) {
    case AV_PIX_FMT_YUVJ420P:
    case AV_PIX_FMT_YUVJ422P:
    case AV_PIX_FMT_YUVJ444P:
    case AV_PIX_FMT_YUVJ440P:
      return true;
    default:
      return frame.color_range == AVCOL_RANGE_JPEG;
  }
}

void set_up(ScalePointer& context, const AVFrame& from, const AVFrame& to) {
  context.reset(sws_getCachedContext(context.release(),
                                     from.width,
                                     from.height,
                                     static_cast<AVPixelFormat>(from.format),
                                     to.width,
                                     to.height,
                                     static_cast<AVPixelFormat>(to.format),
                                     kFlags,
                                     nullptr,
                                     nullptr,
                                     nullptr));
  FROSTLINE_REQUIRE(context != nullptr,
                    ErrorCode::kUnsupported,
                    "cannot convert between pixel formats",
                    fmt::format("from={} to={}",
                                av_get_pix_fmt_name(static_cast<AVPixelFormat>(from.format)),
                                av_get_pix_fmt_name(static_cast<AVPixelFormat>(to.format))));
  const bool from_rgb = from.format == AV_PIX_FMT_RGB24;
  const bool to_rgb = to.format == AV_PIX_FMT_RGB24;
  sws_setColorspaceDetails(context.get(),
                           sws_getCoefficients(table_of(from.colorspace)),
                           from_rgb || is_full_range(from) ? 1 : 0,
                           sws_getCoefficients(table_of(to.colorspace)),
                           to_rgb || is_full_range(to) ? 1 : 0,
                           0,
                           1 << 16,
                           1 << 16);
}

void make_rgb(FramePointer& rgb, int height, int width) {
  if (rgb != nullptr && rgb->height == height && rgb->width == width) {
    return;
  }
  rgb = make_frame();
  rgb->format = AV_PIX_FMT_RGB24;
  rgb->height = height;
  rgb->width = width;
  FROSTLINE_REQUIRE(av_frame_get_buffer(rgb.get(), 64) >= 0,
                    ErrorCode::kResource,
                    "out of memory",
                    "an RGB picture");
}

}  // namespace

void PixelConverter::to_rgb(const AVFrame& frame, std::span<std::uint8_t> out) {
  // swscale may write beyond the end of a row: it gets padded rows, the caller exact ones.
  make_rgb(rgb_, frame.height, frame.width);
  set_up(context_, frame, *rgb_);
  sws_scale(
      context_.get(), frame.data, frame.linesize, 0, frame.height, rgb_->data, rgb_->linesize);
  const std::size_t row_bytes = static_cast<std::size_t>(frame.width) * 3;
  FROSTLINE_CHECK(out.size() == row_bytes * static_cast<std::size_t>(frame.height));
  for (int y = 0; y < frame.height; ++y) {
    std::memcpy(out.data() + static_cast<std::size_t>(y) * row_bytes,
                rgb_->data[0] + static_cast<std::ptrdiff_t>(y) * rgb_->linesize[0],
                row_bytes);
  }
}

void PixelConverter::from_rgb(std::span<const std::uint8_t> rgb, AVFrame& frame) {
  make_rgb(rgb_, frame.height, frame.width);
  const std::size_t row_bytes = static_cast<std::size_t>(frame.width) * 3;
  FROSTLINE_CHECK(rgb.size() == row_bytes * static_cast<std::size_t>(frame.height));
  for (int y = 0; y < frame.height; ++y) {
    std::memcpy(rgb_->data[0] + static_cast<std::ptrdiff_t>(y) * rgb_->linesize[0],
                rgb.data() + static_cast<std::size_t>(y) * row_bytes,
                row_bytes);
  }
  set_up(context_, *rgb_, frame);
  sws_scale(
      context_.get(), rgb_->data, rgb_->linesize, 0, frame.height, frame.data, frame.linesize);
}

}  // namespace frostline::data
