#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "frostline/core/json.h"
#include "frostline/policy/parameters.h"
#include "frostline/train/optimiser.h"

namespace frostline::train {

/// Where a run's checkpoints lie and how they are made durable.
///
/// `checkpoints/NNNNNN/{pretrained_model,training_state}` is filled beside and renamed as a whole;
/// `checkpoints/last` is a relative link renamed over the old one afterwards. A kill at any moment
/// leaves the previous checkpoint in force.
class CheckpointFolder {
 public:
  /// `num_cores`: cores that the run uses, for an encoder in the trainer's process uses another
  /// number of threads than libtorch's current one.
  explicit CheckpointFolder(const std::filesystem::path& run_folder, int num_cores = 0);

  /// Writes checkpoint `step`: `write_model` fills `pretrained_model`.
  void save(std::int64_t step,
            const policy::ParameterSet& parameters,
            const Optimiser& optimiser,
            const Json& config,
            const std::function<void(const std::filesystem::path&)>& write_model) const;

  /// Folder of the newest complete checkpoint.
  std::optional<std::filesystem::path> last() const;

  /// First step to take: 0 for a new run, else what `restore` gives.
  /// Errors: `kUsage` when the folder holds a run and `loop.is_resume` is false; as `restore`.
  std::int64_t begin(policy::ParameterSet& parameters,
                     Optimiser& optimiser,
                     const Json& config,
                     const LoopOptions& loop) const;

  /// Restores parameters and optimiser from `last` and returns the number of finished steps; empty
  /// when there is no checkpoint. A partial checkpoint is named in a warning and ignored.
  /// Errors: `kConfig` when `config` differs from that of the run (key, both values);
  /// `kUnsupported` when machine class or threads differ and `allows_inexact` is false; `kData`.
  std::optional<std::int64_t> restore(policy::ParameterSet& parameters,
                                      Optimiser& optimiser,
                                      const Json& config,
                                      bool allows_inexact) const;

 private:
  Json machine() const;

  std::filesystem::path folder_;
  int num_cores_;
};

/// Instruction set and thread count of this process: what a bit-exact resume needs to be the same.
Json machine_class();

}  // namespace frostline::train
