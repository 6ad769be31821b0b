#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frostline/accel/backend.h"
#include "frostline/core/json.h"
#include "frostline/pipeline/feature_source.h"
#include "frostline/power/meter.h"
#include "frostline/train/options.h"
#include "frostline/train/run_log.h"

namespace frostline::train {

/// What a training took and gave.
struct TrainResult {
  std::filesystem::path checkpoint;  ///< `checkpoints/NNNNNN`.
  std::int64_t first_step = 0;       ///< Above 0 after a resume.
  std::int64_t steps = 0;            ///< Steps taken by this process.
  std::int64_t samples = 0;
  double loop_s = 0;           ///< From the first to the last step, without building a store.
  double store_build_s = 0;    ///< Building the feature store, charged to the run in full.
  double stall_s = 0;          ///< Of `loop_s`, waiting for features.
  double final_loss = 0;       ///< Mean of the last tenth of the logged points.
  power::WindowEnergy energy;  ///< Over the loop and the building of the store.
  std::int64_t peak_memory_bytes = 0;
  std::string peak_memory_scope;  ///< "process" or "GPU allocator".
  std::vector<LossPoint> curve;
  std::vector<pipeline::Span> spans;      ///< Of a stretch of steps in the middle of the run.
  std::map<std::string, double> phase_s;  ///< Summed over the run, by phase.
  Json description;                       ///< As written to `run.json`.

  double ms_per_sample() const;
  double samples_per_s() const;
};

/// Trains a newly initialised action expert on a frozen encoder, or continues a run.
///
/// `artefact` is needed unless the source is `inline`. Writes `run.json`, `metrics.jsonl`,
/// `energy.json`, `timeline.json` and `checkpoints/` under `options.loop.out`.
/// Errors: those of the data set, encoder and backend; `kNumeric` when the loss is not finite
/// (names the step and its frames; the last checkpoint stays); `kInterrupted` after SIGINT, when a
/// checkpoint of the finished steps was written.
TrainResult train(const TrainOptions& options,
                  const std::optional<accel::Artefact>& artefact,
                  power::MeterSet& meters);

}  // namespace frostline::train
