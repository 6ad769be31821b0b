#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "frostline/core/fingerprint.h"
#include "frostline/core/tensor.h"
#include "frostline/graph/graph.h"

namespace frostline::accel {

/// A frozen encoder ready for a device: ONNX bytes with a fixed batch, and what its outputs mean.
/// Immutable once made.
struct Artefact {
  std::string onnx;                 ///< Serialised ModelProto; one input, one output per tensor.
  TensorSpec input;                 ///< `image` u8 [batch, height, width, 3], HWC RGB.
  std::vector<TensorSpec> outputs;  ///< `x_0`..`x_k`, i8 codes or f32, [batch, tokens, dim].
  std::vector<float> scales;  ///< Of each output: value = (code - zero_point) * scale; 1 for f32.
  std::vector<std::int32_t> zero_points;
  std::string precision;    ///< `fp32`, `bf16`, `int8` (the rest in fp32), `int8+bf16`.
  Fingerprint fingerprint;  ///< Weights, scheme, ranges, preprocessing; not the batch size.
};

/// Numbers of an artefact's outputs.
struct OutputCodes {
  std::vector<float> scales;
  std::vector<std::int32_t> zero_points;
};

/// Makes an artefact of a graph with one input.
/// Errors: `kUsage` for a precision other than the four; `kData` when graph and codes do not fit.
Artefact make_artefact(const graph::Graph& graph,
                       const std::string& precision,
                       const OutputCodes& codes);

/// The same artefact, with the same fingerprint, for another batch size.
Artefact with_batch(const Artefact& artefact, std::int64_t batch);

/// Values of output `index` in f32. Errors: `kUsage` when the tensor is not of that output's type.
HostTensor dequantise(const Artefact& artefact, std::size_t index, const HostTensor& codes);

/// Writes one file atomically: safetensors with the ONNX bytes as a tensor and the rest as
/// metadata.
void save_artefact(const std::filesystem::path& path, const Artefact& artefact);

/// Errors: `kIo` when unreadable; `kData` naming file and cause when it is malformed, or when the
/// content does not have the fingerprint that the file states.
Artefact load_artefact(const std::filesystem::path& path);

}  // namespace frostline::accel
