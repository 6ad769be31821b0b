#include "frostline/data/image_codec.h"

#include <algorithm>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/data/video/video.h"

namespace frostline::data {

namespace {

std::string ppm_header(const Camera& camera) {
  return fmt::format("P6\n{} {}\n255\n", camera.width_px, camera.height_px);
}

}  // namespace

std::string encode_image(const Camera& camera, std::span<const std::uint8_t> rgb) {
  FROSTLINE_CHECK(rgb.size() == camera.num_bytes());
  if (camera.codec != "raw") {
    return encode_compressed_image(camera.codec, camera.height_px, camera.width_px, rgb);
  }
  std::string bytes = ppm_header(camera);
  bytes.append(reinterpret_cast<const char*>(rgb.data()), rgb.size());
  return bytes;
}

void decode_image(const Camera& camera, std::string_view bytes, std::span<std::uint8_t> out) {
  FROSTLINE_CHECK(out.size() == camera.num_bytes());
  if (!bytes.starts_with("P6")) {
    decode_compressed_image(bytes, camera.height_px, camera.width_px, out);
    return;
  }
  const std::string header = ppm_header(camera);
  FROSTLINE_REQUIRE(
      bytes.starts_with(header) && bytes.size() == header.size() + out.size(),
      ErrorCode::kData,
      "raw image is damaged or has another size than the data set says",
      fmt::format("camera={} bytes={} expected_bytes={} expected={}x{} (height x width)",
                  camera.name,
                  bytes.size(),
                  header.size() + out.size(),
                  camera.height_px,
                  camera.width_px));
  std::ranges::copy(bytes.substr(header.size()), out.begin());
}

}  // namespace frostline::data
