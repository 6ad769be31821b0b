#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "frostline/accel/artefact.h"
#include "frostline/core/json.h"
#include "frostline/quantise/parity.h"
#include "frostline/train/options.h"

namespace frostline::study {

/// Which artefact is wanted, and from what it is made.
struct ArtefactRequest {
  std::filesystem::path dataset;
  std::vector<std::int64_t> episodes;  ///< Frames for calibration come from these; empty = all.
  std::filesystem::path encoder;       ///< Encoder file or checkpoint.
  int boundary = 4;
  std::string precision = "int8";  ///< `int8`, `int8+bf16`, `bf16`, `fp32`.
  std::string backend = "openvino:CPU";
  std::int64_t batch_size = 8;
  std::uint64_t seed = 0;
  std::int64_t num_calibration = 128;
  std::int64_t num_held_out = 64;
  int num_threads = 0;  ///< 0 = all cores.
};

/// An artefact and how close it is to fp32 on held-out frames.
struct PreparedArtefact {
  accel::Artefact artefact;
  std::vector<quantise::ParityRow> parity;  ///< A row per boundary tensor.
  std::string method;                       ///< Range method of INT8; empty otherwise.
  double duration_s = 0;
};

/// Quantises (or lowers) the frozen encoder for a backend and passes it through the parity gate.
/// Errors: `kNumeric` with the figures when it misses the gate.
PreparedArtefact make_artefact(const ArtefactRequest& request);

/// Parity of an existing artefact on frames of `request.dataset` that calibration does not draw.
std::vector<quantise::ParityRow> measure_parity(const ArtefactRequest& request,
                                                const accel::Artefact& artefact);

/// The artefact of a training: `options.artefact` when given, else the one in the run folder, else
/// a new one, which is stored there as `encoder_artefact.safetensors`.
accel::Artefact artefact_for(const train::TrainOptions& options);

/// Shape: [{boundary, tensor, cosine, relative_error}].
Json parity_json(int boundary, const std::vector<quantise::ParityRow>& rows);

}  // namespace frostline::study
