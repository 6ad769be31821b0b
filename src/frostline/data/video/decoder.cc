#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/data/video/ffmpeg_handles.h"
#include "frostline/data/video/video.h"

namespace frostline::data {

namespace fs = std::filesystem;

bool is_video_supported() {
  return true;
}

VideoProbe probe_video(const fs::path& path) {
  const InputFile file(path);
  const AVStream& stream = *file.stream();
  VideoProbe probe;
  probe.codec = avcodec_get_name(stream.codecpar->codec_id);
  probe.decoder = find_decoder(stream.codecpar->codec_id, path)->name;
  probe.height_px = stream.codecpar->height;
  probe.width_px = stream.codecpar->width;
  probe.num_frames = stream.nb_frames;
  if (stream.avg_frame_rate.den != 0) {
    probe.fps_hz = av_q2d(stream.avg_frame_rate);
  }
  return probe;
}

VideoIndex::VideoIndex(const fs::path& path) {
  const InputFile file(path);
  const PacketPointer packet = make_packet();

  struct Key {
    std::int64_t pts = 0;
    std::int64_t dts = 0;
  };

  std::vector<Key> keys;
  std::vector<std::pair<Frame, std::int64_t>> found;  // With the pts of the key frame.
  while (file.read(*packet)) {
    const std::int64_t pts = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    const std::int64_t dts = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts;
    if ((packet->flags & AV_PKT_FLAG_KEY) != 0) {
      keys.push_back({pts, dts});
    }
    FROSTLINE_REQUIRE(!keys.empty(),
                      ErrorCode::kData,
                      "video does not begin with a key frame",
                      fmt::format("file={}", path.string()));
    // A picture shown before the key frame it follows in the file may need the one before.
    const bool is_leading = pts < keys.back().pts && keys.size() > 1;
    const Key& key = is_leading ? keys[keys.size() - 2] : keys.back();
    found.push_back({Frame{pts, key.dts, 0}, key.pts});
  }
  FROSTLINE_REQUIRE(!found.empty(),
                    ErrorCode::kData,
                    "video has no frames",
                    fmt::format("file={}", path.string()));
  std::ranges::sort(found, {}, [](const auto& entry) { return entry.first.pts; });
  for (const auto& [frame, key_pts] : found) {
    const auto key = std::ranges::lower_bound(
        found, key_pts, {}, [](const auto& entry) { return entry.first.pts; });
    frames_.push_back({frame.pts, frame.key_dts, key - found.begin()});
  }
}

struct VideoDecoder::Impl {
  Impl(const fs::path& file_path, std::shared_ptr<const VideoIndex> shared_index)
      : path(file_path), index(std::move(shared_index)), file(file_path) {
    const AVCodecParameters* parameters = file.stream()->codecpar;
    const AVCodec* decoder = find_decoder(parameters->codec_id, path);
    codec.reset(avcodec_alloc_context3(decoder));
    FROSTLINE_REQUIRE(codec != nullptr, ErrorCode::kResource, "out of memory", "a video decoder");
    require_ffmpeg(avcodec_parameters_to_context(codec.get(), parameters),
                   ErrorCode::kData,
                   "video has no usable parameters",
                   path);
    codec->pkt_timebase = file.stream()->time_base;
    // Callers decode in parallel over decoders; threads inside one would add frames of delay.
    codec->thread_count = 1;
    if (parameters->codec_id == AV_CODEC_ID_AV1) {
      codec->flags |= AV_CODEC_FLAG_LOW_DELAY;
    }
    require_ffmpeg(avcodec_open2(codec.get(), decoder, nullptr),
                   ErrorCode::kUnsupported,
                   "cannot start video decoder",
                   path);
  }

  void seek(std::int64_t frame_index) {
    const auto& target = index->frames()[static_cast<std::size_t>(frame_index)];
    avcodec_flush_buffers(codec.get());
    require_ffmpeg(
        av_seek_frame(file.get(), file.stream()->index, target.key_dts, AVSEEK_FLAG_BACKWARD),
        ErrorCode::kData,
        "cannot seek in video file",
        path);
    next = target.key_frame;
    is_draining = false;
  }

  /// Decodes one more picture into `frame`; false at the end.
  bool decode() {
    for (;;) {
      const int result = avcodec_receive_frame(codec.get(), frame.get());
      if (result == 0) {
        return true;
      }
      if (result == AVERROR_EOF) {
        return false;
      }
      if (result != AVERROR(EAGAIN)) {
        require_ffmpeg(result, ErrorCode::kData, "cannot decode video", path);
      }
      if (is_draining || !file.read(*packet)) {
        is_draining = true;
        require_ffmpeg(avcodec_send_packet(codec.get(), nullptr),
                       ErrorCode::kData,
                       "cannot decode video",
                       path);
        continue;
      }
      require_ffmpeg(avcodec_send_packet(codec.get(), packet.get()),
                     ErrorCode::kData,
                     "cannot decode video",
                     path);
    }
  }

  [[noreturn]] void fail(std::int64_t frame_index, std::string_view what) const {
    throw Error(ErrorCode::kData,
                what,
                fmt::format("file={} frame={} frames_in_file={}",
                            path.string(),
                            frame_index,
                            index->frames().size()));
  }

  fs::path path;
  std::shared_ptr<const VideoIndex> index;
  InputFile file;
  CodecPointer codec;
  FramePointer frame = make_frame();
  PacketPointer packet = make_packet();
  PixelConverter converter;
  std::int64_t next = -1;  ///< The picture that decoding goes on with; -1: seek first.
  bool is_draining = false;
};

VideoDecoder::VideoDecoder(const fs::path& path, std::shared_ptr<const VideoIndex> index)
    : impl_(std::make_unique<Impl>(path, std::move(index))) {}

VideoDecoder::VideoDecoder(VideoDecoder&&) noexcept = default;
VideoDecoder& VideoDecoder::operator=(VideoDecoder&&) noexcept = default;
VideoDecoder::~VideoDecoder() = default;

std::int64_t VideoDecoder::cost_of(std::int64_t frame_index) const {
  if (frame_index < 0 || frame_index >= std::ssize(impl_->index->frames())) {
    return 0;
  }
  const std::int64_t key = impl_->index->frames()[static_cast<std::size_t>(frame_index)].key_frame;
  const std::int64_t next = impl_->next;
  return next >= key && next <= frame_index ? frame_index - next : frame_index - key + 1;
}

void VideoDecoder::read(std::int64_t frame_index, std::span<std::uint8_t> out) {
  Impl& self = *impl_;
  const auto frames = self.index->frames();
  if (frame_index < 0 || frame_index >= std::ssize(frames)) {
    self.fail(frame_index, "video ends before the frame asked for");
  }
  const auto& target = frames[static_cast<std::size_t>(frame_index)];
  const bool goes_on = self.next >= target.key_frame && self.next <= frame_index;
  if (!goes_on) {
    self.seek(frame_index);
  }
  try {
    for (;;) {
      if (!self.decode()) {
        self.fail(frame_index, "video ends before the frame asked for");
      }
      const std::int64_t pts = self.frame->best_effort_timestamp;
      if (pts > target.pts) {
        self.fail(frame_index, "video has no picture at the time of the frame");
      }
      if (pts == target.pts) {
        break;
      }
    }
    const std::size_t expected =
        static_cast<std::size_t>(self.frame->width) * static_cast<std::size_t>(self.frame->height);
    if (out.size() != expected * 3) {
      self.fail(frame_index,
                fmt::format("video has another size than expected: {}x{}",
                            self.frame->height,
                            self.frame->width));
    }
    self.converter.to_rgb(*self.frame, out);
  } catch (...) {
    self.next = -1;
    throw;
  }
  self.next = self.is_draining && frame_index + 1 == std::ssize(frames) ? -1 : frame_index + 1;
}

}  // namespace frostline::data
