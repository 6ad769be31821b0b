#include <cstdlib>
#include <mutex>
#include <optional>

#include <fmt/format.h>

extern "C" {
#include <libavutil/opt.h>
}

#include "frostline/core/error.h"
#include "frostline/data/video/ffmpeg_handles.h"
#include "frostline/data/video/video.h"

namespace frostline::data {

namespace fs = std::filesystem;

namespace {

const AVCodec* find_encoder(const VideoEncoderOptions& options) {
  const char* name = nullptr;
  if (options.codec == "av1") {
    name = "libsvtav1";
  } else if (options.codec == "h264") {
    name = "libx264";
  }
  FROSTLINE_REQUIRE(name != nullptr,
                    ErrorCode::kUnsupported,
                    "video codec cannot be written",
                    fmt::format("codec={} ; known: av1, h264", options.codec));
  const AVCodec* encoder = avcodec_find_encoder_by_name(name);
  FROSTLINE_REQUIRE(encoder != nullptr,
                    ErrorCode::kUnsupported,
                    "encoder is not built into FFmpeg",
                    fmt::format("encoder={} ; install an FFmpeg that has it", name));
  return encoder;
}

}  // namespace

void require_video_encoder(const VideoEncoderOptions& options) {
  find_encoder(options);
  // SVT-AV1 takes 64 x 64 and more; 4:2:0 needs even sides.
  const bool is_usable = options.height_px >= 64 && options.width_px >= 64 &&
                         options.height_px % 2 == 0 && options.width_px % 2 == 0;
  FROSTLINE_REQUIRE(is_usable,
                    ErrorCode::kUsage,
                    "image size cannot be encoded as video",
                    fmt::format("height={} width={} ; both have to be even and at least 64",
                                options.height_px,
                                options.width_px));
  FROSTLINE_REQUIRE(options.fps > 0 && options.gop > 0,
                    ErrorCode::kUsage,
                    "fps and distance of key frames have to be positive",
                    fmt::format("fps={} gop={}", options.fps, options.gop));
}

struct VideoEncoder::Impl {
  Impl(const fs::path& file_path, const VideoEncoderOptions& options)
      : path(file_path), file(file_path) {
    const AVCodec* encoder = find_encoder(options);
    codec.reset(avcodec_alloc_context3(encoder));
    FROSTLINE_REQUIRE(codec != nullptr, ErrorCode::kResource, "out of memory", "a video encoder");
    codec->width = static_cast<int>(options.width_px);
    codec->height = static_cast<int>(options.height_px);
    codec->pix_fmt = AV_PIX_FMT_YUV420P;
    codec->color_range = AVCOL_RANGE_MPEG;
    codec->colorspace = AVCOL_SPC_SMPTE170M;
    codec->time_base = {1, static_cast<int>(options.fps)};
    codec->framerate = {static_cast<int>(options.fps), 1};
    codec->gop_size = options.gop;
    codec->thread_count = 1;
    codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT;
    set(*encoder, "crf", std::to_string(options.crf));
    if (options.codec == "av1") {
      set(*encoder, "preset", std::to_string(options.preset));
      set(*encoder, "svtav1-params", "lp=1");
    }
    require_ffmpeg(avcodec_open2(codec.get(), encoder, nullptr),
                   ErrorCode::kUsage,
                   "video encoder refuses the options",
                   path);
    require_ffmpeg(avcodec_parameters_from_context(file.stream()->codecpar, codec.get()),
                   ErrorCode::kInternal,
                   "video encoder has no parameters",
                   path);
    file.stream()->time_base = codec->time_base;
    file.stream()->avg_frame_rate = codec->framerate;
    file.write_header();
    frame->format = codec->pix_fmt;
    frame->width = codec->width;
    frame->height = codec->height;
    frame->color_range = codec->color_range;
    frame->colorspace = codec->colorspace;
    require_ffmpeg(
        av_frame_get_buffer(frame.get(), 0), ErrorCode::kResource, "out of memory", path);
  }

  void set(const AVCodec& encoder, const char* name, const std::string& value) const {
    require_ffmpeg(av_opt_set(codec->priv_data, name, value.c_str(), 0),
                   ErrorCode::kUnsupported,
                   fmt::format("encoder {} has no option {}={}", encoder.name, name, value),
                   path);
  }

  void drain(const AVFrame* input) {
    constexpr std::string_view kWhat = "cannot encode video";
    require_ffmpeg(avcodec_send_frame(codec.get(), input), ErrorCode::kInternal, kWhat, path);
    for (;;) {
      const int result = avcodec_receive_packet(codec.get(), packet.get());
      if (result == AVERROR(EAGAIN) || result == AVERROR_EOF) {
        return;
      }
      require_ffmpeg(result, ErrorCode::kInternal, kWhat, path);
      packet->duration = 1;
      av_packet_rescale_ts(packet.get(), codec->time_base, file.stream()->time_base);
      file.write(*packet);
    }
  }

  fs::path path;
  OutputFile file;
  CodecPointer codec;
  FramePointer frame = make_frame();
  PacketPointer packet = make_packet();
  PixelConverter converter;
  std::int64_t num_frames = 0;
};

VideoEncoder::VideoEncoder(const fs::path& path, const VideoEncoderOptions& options) {
  require_video_encoder(options);
  av_log_set_level(AV_LOG_FATAL);
  // SVT-AV1 prints its configuration to stderr for every file unless told by this variable.
  static std::once_flag quiet;
  std::call_once(quiet, [] { ::setenv("SVT_LOG", "1", 0); });
  impl_ = std::make_unique<Impl>(path, options);
}

VideoEncoder::~VideoEncoder() = default;

void VideoEncoder::add(std::span<const std::uint8_t> rgb) {
  Impl& self = *impl_;
  require_ffmpeg(
      av_frame_make_writable(self.frame.get()), ErrorCode::kResource, "out of memory", self.path);
  self.converter.from_rgb(rgb, *self.frame);
  self.frame->pts = self.num_frames++;
  self.drain(self.frame.get());
}

void VideoEncoder::finish() {
  impl_->drain(nullptr);
  impl_->file.finish();
}

bool join_videos(const fs::path& first,
                 const fs::path& second,
                 std::int64_t fps,
                 const fs::path& out) {
  const InputFile inputs[] = {InputFile(first), InputFile(second)};
  const AVCodecParameters& a = *inputs[0].stream()->codecpar;
  const AVCodecParameters& b = *inputs[1].stream()->codecpar;
  const std::string_view extra_a(reinterpret_cast<const char*>(a.extradata),
                                 static_cast<std::size_t>(a.extradata_size));
  const std::string_view extra_b(reinterpret_cast<const char*>(b.extradata),
                                 static_cast<std::size_t>(b.extradata_size));
  if (a.codec_id != b.codec_id || a.width != b.width || a.height != b.height ||
      extra_a != extra_b) {
    return false;
  }
  OutputFile output(out);
  require_ffmpeg(avcodec_parameters_copy(output.stream()->codecpar, &a),
                 ErrorCode::kResource,
                 "out of memory",
                 out);
  output.stream()->codecpar->codec_tag = 0;
  output.stream()->time_base = inputs[0].stream()->time_base;
  output.stream()->avg_frame_rate = {static_cast<int>(fps), 1};
  output.write_header();
  const PacketPointer packet = make_packet();
  const AVRational frame_duration{1, static_cast<int>(fps)};
  std::int64_t num_frames = 0;
  for (const InputFile& input : inputs) {
    const std::int64_t before = num_frames;
    while (input.read(*packet)) {
      ++num_frames;
      av_packet_rescale_ts(packet.get(), input.stream()->time_base, output.stream()->time_base);
      const std::int64_t offset = av_rescale_q(before, frame_duration, output.stream()->time_base);
      packet->pts += offset;
      packet->dts += offset;
      output.write(*packet);
    }
  }
  output.finish();
  return true;
}

}  // namespace frostline::data
