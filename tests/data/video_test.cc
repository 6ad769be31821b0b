#include "frostline/data/video/video.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/core/file.h"
#include "frostline/data/image_codec.h"
#include "frostline/data/video/decoder_pool.h"
#include "tests/data/recording.h"
#include "tests/support/temp_folder.h"

namespace frostline::data {
namespace {

using test::TempFolder;

namespace fs = std::filesystem;

const Camera kCamera{"camera", 64, 96, "av1"};

void encode(const fs::path& path, const std::string& codec, int gop, std::int64_t num_frames) {
  VideoEncoder encoder(
      path, {.codec = codec, .height_px = 64, .width_px = 96, .fps = 30, .crf = 20, .gop = gop});
  for (std::int64_t frame = 0; frame < num_frames; ++frame) {
    encoder.add(picture(kCamera, 0, frame));
  }
  encoder.finish();
}

class Video : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!is_video_supported()) {
      GTEST_SKIP() << "built without FFmpeg";
    }
  }

  TempFolder folder_;
};

TEST_F(Video, SaysWhatItIsAndWhatDecodesIt) {
  encode(folder_.path() / "v.mp4", "av1", 2, 9);
  const VideoProbe probe = probe_video(folder_.path() / "v.mp4");
  EXPECT_EQ(probe.codec, "av1");
  EXPECT_EQ(probe.decoder, "libdav1d");
  EXPECT_EQ(probe.num_frames, 9);
  EXPECT_EQ(probe.height_px, 64);
  EXPECT_EQ(probe.width_px, 96);
  EXPECT_DOUBLE_EQ(probe.fps_hz, 30.0);
}

TEST_F(Video, ReadsForwardWithoutStartingAgain) {
  encode(folder_.path() / "v.mp4", "av1", 10, 30);
  const auto index = std::make_shared<const VideoIndex>(folder_.path() / "v.mp4");
  ASSERT_EQ(index->frames().size(), 30U);
  EXPECT_EQ(index->frames()[9].key_frame, 0);
  EXPECT_EQ(index->frames()[10].key_frame, 10);
  VideoDecoder decoder(folder_.path() / "v.mp4", index);
  std::vector<std::uint8_t> image(kCamera.num_bytes());
  decoder.read(12, image);
  EXPECT_EQ(decoder.cost_of(13), 0);
  EXPECT_EQ(decoder.cost_of(15), 2);
  EXPECT_EQ(decoder.cost_of(12), 3);
  EXPECT_EQ(decoder.cost_of(20), 1);
  EXPECT_EQ(decoder.cost_of(5), 6);
  EXPECT_THROW(decoder.read(30, image), Error);
  EXPECT_THROW(decoder.read(-1, image), Error);
  decoder.read(29, image);
  decoder.read(0, image);
  EXPECT_LE(mean_difference(image, picture(kCamera, 0, 0)), 3.0);
}

TEST_F(Video, SharesFewDecodersAmongManyFiles) {
  for (int file = 0; file < 4; ++file) {
    encode(folder_.path() / std::to_string(file), "h264", 5, 8 + file);
  }
  DecoderPool pool(2);
  std::vector<std::uint8_t> image(kCamera.num_bytes());
  for (int i = 0; i < 40; ++i) {
    pool.read(folder_.path() / std::to_string(i % 4), (i * 3) % 8, image);
    EXPECT_LE(mean_difference(image, picture(kCamera, 0, (i * 3) % 8)), 3.0);
  }
  EXPECT_THROW(pool.read(folder_.path() / "none", 0, image), Error);
  pool.read(folder_.path() / "0", 0, image);
}

TEST_F(Video, KeepsItsColours) {
  // Red and blue swapped, or the range taken wrongly, is off by far more than the codec's loss.
  std::vector<std::uint8_t> rgb(kCamera.num_bytes());
  for (std::size_t i = 0; i < rgb.size(); i += 3) {
    rgb[i] = 250;
    rgb[i + 1] = 10;
    rgb[i + 2] = 60;
  }
  for (const std::string codec : {"av1", "h264"}) {
    const fs::path path = folder_.path() / codec;
    VideoEncoder encoder(path,
                         {.codec = codec, .height_px = 64, .width_px = 96, .fps = 30, .crf = 10});
    encoder.add(rgb);
    encoder.finish();
    std::vector<std::uint8_t> image(rgb.size());
    VideoDecoder(path, std::make_shared<const VideoIndex>(path)).read(0, image);
    EXPECT_LE(mean_difference(image, rgb), 3.0) << codec;
  }
  for (const std::string codec : {"png", "jpeg"}) {
    Camera camera = kCamera;
    camera.codec = codec;
    std::vector<std::uint8_t> image(rgb.size());
    decode_image(camera, encode_image(camera, rgb), image);
    EXPECT_LE(mean_difference(image, rgb), codec == "png" ? 0.0 : 3.0) << codec;
  }
}

TEST_F(Video, RefusesATruncatedFile) {
  const fs::path path = folder_.path() / "v.mp4";
  encode(path, "av1", 2, 20);
  const std::string whole = read_file(path);
  for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 12) {
    write_file_atomic(path, std::string_view(whole).substr(0, length));
    try {
      const VideoIndex index(path);
      FAIL() << "read " << length << " of " << whole.size() << " bytes";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kData);
      EXPECT_THAT(error.what(), ::testing::HasSubstr("v.mp4"));
    }
  }
}

TEST_F(Video, RefusesSizesThatCannotBeEncoded) {
  try {
    require_video_encoder({.codec = "av1", .height_px = 63, .width_px = 96, .fps = 30});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("height=63"));
  }
}

TEST(ImageCodec, RefusesDamagedImages) {
  Camera camera = kCamera;
  camera.codec = "raw";
  const auto rgb = picture(camera, 0, 0);
  const std::string raw = encode_image(camera, rgb);
  std::vector<std::uint8_t> image(rgb.size());
  decode_image(camera, raw, image);
  EXPECT_EQ(image, rgb);
  for (const std::size_t length : {std::size_t{2}, std::size_t{9}, raw.size() - 1}) {
    EXPECT_THROW(decode_image(camera, raw.substr(0, length), image), Error);
  }
  if (!is_video_supported()) {
    return;
  }
  camera.codec = "png";
  const std::string png = encode_image(camera, rgb);
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{5}, std::size_t{30}, png.size() / 2}) {
    EXPECT_THROW(decode_image(camera, png.substr(0, length), image), Error) << length;
  }
  Camera other = camera;
  other.height_px = 32;
  std::vector<std::uint8_t> smaller(other.num_bytes());
  try {
    decode_image(other, png, smaller);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("found=64x96 expected=32x96"));
  }
}

}  // namespace
}  // namespace frostline::data
