#include <cstring>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/data/video/ffmpeg_handles.h"
#include "frostline/data/video/video.h"

namespace frostline::data {

namespace {

constexpr std::string_view kPngMagic("\x89PNG\r\n\x1a\n", 8);
constexpr std::string_view kJpegMagic("\xFF\xD8\xFF", 3);

CodecPointer open_codec(const AVCodec* codec, const AVCodecContext& like) {
  FROSTLINE_REQUIRE(codec != nullptr,
                    ErrorCode::kUnsupported,
                    "image codec is not built into FFmpeg",
                    "PNG and JPEG need an FFmpeg with the png and mjpeg codecs");
  CodecPointer context(avcodec_alloc_context3(codec));
  FROSTLINE_REQUIRE(context != nullptr, ErrorCode::kResource, "out of memory", "an image codec");
  context->thread_count = 1;
  context->width = like.width;
  context->height = like.height;
  context->pix_fmt = like.pix_fmt;
  context->color_range = like.color_range;
  context->time_base = {1, 1};
  context->flags |= AV_CODEC_FLAG_BITEXACT | like.flags;
  context->global_quality = like.global_quality;
  require_ffmpeg(avcodec_open2(context.get(), codec, nullptr),
                 ErrorCode::kUnsupported,
                 "cannot start codec",
                 "");
  return context;
}

}  // namespace

void decode_compressed_image(std::string_view bytes,
                             std::int64_t height_px,
                             std::int64_t width_px,
                             std::span<std::uint8_t> out) {
  av_log_set_level(AV_LOG_FATAL);
  AVCodecID id = AV_CODEC_ID_NONE;
  if (bytes.starts_with(kPngMagic)) {
    id = AV_CODEC_ID_PNG;
  } else if (bytes.starts_with(kJpegMagic)) {
    id = AV_CODEC_ID_MJPEG;
  }
  FROSTLINE_REQUIRE(id != AV_CODEC_ID_NONE,
                    ErrorCode::kData,
                    "image is neither PNG, JPEG nor PPM",
                    fmt::format("bytes={}", bytes.size()));
  AVCodecContext like{};
  like.pix_fmt = AV_PIX_FMT_NONE;
  const CodecPointer context = open_codec(avcodec_find_decoder(id), like);
  const PacketPointer packet = make_packet();
  require_ffmpeg(av_new_packet(packet.get(), static_cast<int>(bytes.size())),
                 ErrorCode::kResource,
                 "out of memory",
                 "");
  std::memcpy(packet->data, bytes.data(), bytes.size());
  const FramePointer frame = make_frame();
  int result = avcodec_send_packet(context.get(), packet.get());
  if (result >= 0) {
    result = avcodec_send_packet(context.get(), nullptr);
  }
  if (result >= 0) {
    result = avcodec_receive_frame(context.get(), frame.get());
  }
  FROSTLINE_REQUIRE(result >= 0 && frame->decode_error_flags == 0,
                    ErrorCode::kData,
                    "image is damaged",
                    fmt::format("codec={} bytes={} ; {}",
                                avcodec_get_name(id),
                                bytes.size(),
                                result < 0 ? ffmpeg_text(result) : "truncated"));
  FROSTLINE_REQUIRE(frame->height == height_px && frame->width == width_px,
                    ErrorCode::kData,
                    "image has another size than the data set says",
                    fmt::format("found={}x{} expected={}x{} (height x width)",
                                frame->height,
                                frame->width,
                                height_px,
                                width_px));
  PixelConverter().to_rgb(*frame, out);
}

std::string encode_compressed_image(const std::string& codec,
                                    std::int64_t height_px,
                                    std::int64_t width_px,
                                    std::span<const std::uint8_t> rgb) {
  FROSTLINE_REQUIRE(codec == "png" || codec == "jpeg",
                    ErrorCode::kUnsupported,
                    "image codec cannot be written",
                    fmt::format("codec={} ; known: png, jpeg, raw", codec));
  const bool is_png = codec == "png";
  AVCodecContext like{};
  like.width = static_cast<int>(width_px);
  like.height = static_cast<int>(height_px);
  like.pix_fmt = is_png ? AV_PIX_FMT_RGB24 : AV_PIX_FMT_YUVJ444P;
  like.color_range = AVCOL_RANGE_JPEG;
  if (!is_png) {
    like.flags = AV_CODEC_FLAG_QSCALE;
    like.global_quality = 2 * FF_QP2LAMBDA;
  }
  const CodecPointer context =
      open_codec(avcodec_find_encoder(is_png ? AV_CODEC_ID_PNG : AV_CODEC_ID_MJPEG), like);
  const FramePointer frame = make_frame();
  frame->format = context->pix_fmt;
  frame->width = context->width;
  frame->height = context->height;
  frame->color_range = AVCOL_RANGE_JPEG;
  frame->quality = context->global_quality;
  require_ffmpeg(av_frame_get_buffer(frame.get(), 0), ErrorCode::kResource, "out of memory", "");
  PixelConverter().from_rgb(rgb, *frame);
  frame->pts = 0;
  const PacketPointer packet = make_packet();
  constexpr std::string_view kWhat = "cannot encode image";
  require_ffmpeg(avcodec_send_frame(context.get(), frame.get()), ErrorCode::kInternal, kWhat, "");
  require_ffmpeg(avcodec_send_frame(context.get(), nullptr), ErrorCode::kInternal, kWhat, "");
  require_ffmpeg(
      avcodec_receive_packet(context.get(), packet.get()), ErrorCode::kInternal, kWhat, "");
  return {reinterpret_cast<const char*>(packet->data), static_cast<std::size_t>(packet->size)};
}

}  // namespace frostline::data
