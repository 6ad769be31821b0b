#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "frostline/core/fingerprint.h"
#include "frostline/core/json.h"
#include "frostline/train/options.h"
#include "frostline/train/run_log.h"

namespace frostline::train {

/// What a pretraining took and gave.
struct PretrainResult {
  std::filesystem::path encoder;  ///< `encoder.safetensors`, fp16.
  Fingerprint fingerprint;
  std::int64_t steps = 0;
  double duration_s = 0;
  std::vector<LossPoint> curve;
  Json description;
};

/// Trains encoder and parallel branch end to end, then freezes batch norm with statistics taken
/// over `statistics_batches` batches of the averaged weights, and writes `encoder.safetensors`,
/// `run.json` and `metrics.jsonl` under `options.loop.out`.
///
/// The autoregressive branch sends the encoder no gradient (its prefix is detached), so leaving it
/// out is the published end-to-end training as far as the encoder goes.
/// Errors: as `train`.
PretrainResult pretrain(const PretrainOptions& options);

}  // namespace frostline::train
