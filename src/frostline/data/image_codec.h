#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "frostline/data/dataset.h"

namespace frostline::data {

/// Encodes one image for a Parquet column by `camera.codec`: `png`, `jpeg` (both through FFmpeg) or
/// `raw`. `raw` is a binary PPM (magic `P6`, ASCII width, height, 255, then RGB bytes): it needs no
/// library here, and LeRobot's reader (Pillow) opens it too.
/// Errors: `kUnsupported` for another codec or without FFmpeg.
std::string encode_image(const Camera& camera, std::span<const std::uint8_t> rgb);

/// Decodes PNG, JPEG or PPM, told apart by their first bytes.
/// Errors: `kData` when damaged or not of the camera's size; `kUnsupported` without FFmpeg.
void decode_image(const Camera& camera, std::string_view bytes, std::span<std::uint8_t> out);

}  // namespace frostline::data
