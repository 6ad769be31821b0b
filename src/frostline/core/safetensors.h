#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "frostline/core/tensor.h"

namespace frostline {

/// Tensors and free-text metadata of a safetensors file.
struct SafeTensors {
  NamedTensors tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads a whole safetensors file.
/// Errors: `kIo` when unreadable; `kData` naming file, tensor and offsets when the header is
/// malformed, offsets overlap or lie outside the file, or an element type is unknown.
/// Source: safetensors format, https://github.com/huggingface/safetensors (header of 8-byte length
/// + JSON + data).
SafeTensors read_safetensors(const std::filesystem::path& path);

/// Writes atomically; tensors in name order, data aligned to 8 bytes.
void write_safetensors(const std::filesystem::path& path, const SafeTensors& content);

}  // namespace frostline
