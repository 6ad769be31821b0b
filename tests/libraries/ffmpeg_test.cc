#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
#include <libavutil/opt.h>
}

#include <gtest/gtest.h>

namespace {

constexpr int kWidth = 64;
constexpr int kHeight = 64;
constexpr int kNumFrames = 8;

struct FreeContext {
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
};

struct FreeFrame {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};

struct FreePacket {
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};

using Context = std::unique_ptr<AVCodecContext, FreeContext>;
using Frame = std::unique_ptr<AVFrame, FreeFrame>;
using Packet = std::unique_ptr<AVPacket, FreePacket>;

int luma_of(int frame_index) {
  return 40 + 20 * frame_index;
}

std::vector<Packet> encode(const AVCodec* codec) {
  const Context context(avcodec_alloc_context3(codec));
  context->width = kWidth;
  context->height = kHeight;
  context->pix_fmt = AV_PIX_FMT_YUV420P;
  context->time_base = {1, 50};
  context->framerate = {50, 1};
  context->gop_size = 2;
  av_opt_set(context->priv_data, "preset", "12", 0);
  av_opt_set(context->priv_data, "crf", "20", 0);
  EXPECT_GE(avcodec_open2(context.get(), codec, nullptr), 0);

  std::vector<Packet> packets;
  const auto drain = [&] {
    for (;;) {
      Packet packet(av_packet_alloc());
      if (avcodec_receive_packet(context.get(), packet.get()) < 0) {
        return;
      }
      packets.push_back(std::move(packet));
    }
  };
  for (int i = 0; i < kNumFrames; ++i) {
    const Frame frame(av_frame_alloc());
    frame->format = context->pix_fmt;
    frame->width = kWidth;
    frame->height = kHeight;
    EXPECT_GE(av_frame_get_buffer(frame.get(), 0), 0);
    for (int plane = 0; plane < 3; ++plane) {
      const int height = plane == 0 ? kHeight : kHeight / 2;
      std::fill_n(frame->data[plane],
                  frame->linesize[plane] * height,
                  static_cast<std::uint8_t>(plane == 0 ? luma_of(i) : 128));
    }
    frame->pts = i;
    EXPECT_GE(avcodec_send_frame(context.get(), frame.get()), 0);
    drain();
  }
  EXPECT_GE(avcodec_send_frame(context.get(), nullptr), 0);
  drain();
  return packets;
}

std::vector<int> decode_luma(const AVCodec* codec, const std::vector<Packet>& packets) {
  const Context context(avcodec_alloc_context3(codec));
  EXPECT_GE(avcodec_open2(context.get(), codec, nullptr), 0);
  std::vector<int> luma;
  const auto drain = [&] {
    const Frame frame(av_frame_alloc());
    while (avcodec_receive_frame(context.get(), frame.get()) >= 0) {
      luma.push_back(frame->data[0][kHeight / 2 * frame->linesize[0] + kWidth / 2]);
    }
  };
  for (const Packet& packet : packets) {
    EXPECT_GE(avcodec_send_packet(context.get(), packet.get()), 0);
    drain();
  }
  EXPECT_GE(avcodec_send_packet(context.get(), nullptr), 0);
  drain();
  return luma;
}

TEST(Ffmpeg, DecodesTheAv1ItEncoded) {
  setenv("SVT_LOG", "1", 0);
  const AVCodec* encoder = avcodec_find_encoder_by_name("libsvtav1");
  const AVCodec* decoder = avcodec_find_decoder_by_name("libdav1d");
  if (encoder == nullptr || decoder == nullptr) {
    GTEST_SKIP() << "this FFmpeg is built without libsvtav1 or libdav1d";
  }
  const std::vector<int> luma = decode_luma(decoder, encode(encoder));
  ASSERT_EQ(luma.size(), static_cast<std::size_t>(kNumFrames));
  for (int i = 0; i < kNumFrames; ++i) {
    // Lossy coding of a flat grey; the frames are 20 apart.
    EXPECT_NEAR(luma[static_cast<std::size_t>(i)], luma_of(i), 4) << "frame " << i;
  }
}

}  // namespace
