#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>
#include <libswscale/swscale.h>
}

#include "frostline/core/error.h"

namespace frostline::data {

struct FreeFfmpeg {
  void operator()(AVFrame* frame) const noexcept { av_frame_free(&frame); }

  void operator()(AVPacket* packet) const noexcept { av_packet_free(&packet); }

  void operator()(AVCodecContext* context) const noexcept { avcodec_free_context(&context); }

  void operator()(SwsContext* context) const noexcept { sws_freeContext(context); }
};

using FramePointer = std::unique_ptr<AVFrame, FreeFfmpeg>;
using PacketPointer = std::unique_ptr<AVPacket, FreeFfmpeg>;
using CodecPointer = std::unique_ptr<AVCodecContext, FreeFfmpeg>;
using ScalePointer = std::unique_ptr<SwsContext, FreeFfmpeg>;

/// Text of an FFmpeg error number.
std::string ffmpeg_text(int error);

/// Throws `code` when `result` is negative; returns it otherwise.
int require_ffmpeg(int result,
                   ErrorCode code,
                   std::string_view what,
                   const std::filesystem::path& path);

FramePointer make_frame();
PacketPointer make_packet();

/// A video file opened for reading, and its first video stream.
class InputFile {
 public:
  /// Errors: `kIo` when there is no file, `kData` when it holds no video stream.
  explicit InputFile(const std::filesystem::path& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  InputFile(InputFile&&) = delete;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  AVFormatContext* get() const { return context_; }

  AVStream* stream() const { return stream_; }

  /// Reads the next packet of the video stream; false at the end of the file.
  bool read(AVPacket& packet) const;

 private:
  std::filesystem::path path_;
  AVFormatContext* context_ = nullptr;
  AVStream* stream_ = nullptr;
};

/// An MP4 file being written, with one video stream.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  OutputFile(OutputFile&&) = delete;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  AVFormatContext* get() const { return context_; }

  AVStream* stream() const { return stream_; }

  void write_header() const;
  void write(AVPacket& packet) const;
  void finish();

 private:
  std::filesystem::path path_;
  AVFormatContext* context_ = nullptr;
  AVStream* stream_ = nullptr;
};

/// The decoder for a codec: libdav1d for AV1, because FFmpeg's own needs hardware.
/// Errors: `kUnsupported` naming the codec.
const AVCodec* find_decoder(AVCodecID id, const std::filesystem::path& path);

/// Converts between decoded pictures and RGB; the one place where colours are computed. Bilinear
/// chroma, accurate rounding and no processor-specific shortcuts, so that the result is the same on
/// every machine. One thread.
class PixelConverter {
 public:
  /// Any picture to full-range RGB. Shape: `out` is [height, width, 3].
  void to_rgb(const AVFrame& frame, std::span<std::uint8_t> out);
  /// RGB to the format, colour space and range that `frame` names.
  void from_rgb(std::span<const std::uint8_t> rgb, AVFrame& frame);

 private:
  ScalePointer context_;
  FramePointer rgb_;
};

}  // namespace frostline::data
