#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frostline/eval/statistics.h"

namespace frostline::eval {

/// How an episode ended. An infrastructure failure says nothing about the policy.
enum class OutcomeKind { kSuccess, kTaskFailure, kInfrastructureFailure };

/// `success`, `task_failure`, `infrastructure_failure`.
std::string_view to_string(OutcomeKind kind);

/// One rollout; a row of `outcomes.parquet` with columns of the same names.
struct Outcome {
  std::string task;
  std::string condition;
  std::int64_t train_seed = 0;
  std::uint64_t env_seed = 0;
  std::string features;  ///< Precision of the features at rollout, for example `int8`.
  std::string control;   ///< `none`, `image_shuffle`.
  OutcomeKind kind = OutcomeKind::kTaskFailure;
  std::int64_t steps = 0;         ///< Actions until success, the time limit or the fault.
  std::int64_t reward_stage = 0;  ///< Highest stage reached.
  /// Wall time from reset to the episode's end, shared with the other episodes of its batch.
  double duration_s = 0;
  std::optional<double> energy_j;
  std::string checkpoint;  ///< Fingerprint.

  bool is_success() const { return kind == OutcomeKind::kSuccess; }
};

/// What counts in statistics: everything but infrastructure failures.
std::vector<SeedOutcome> counted_outcomes(std::span<const Outcome> outcomes);

/// Writes atomically. Errors: `kIo`; `kUnsupported` when the build has no Parquet.
void write_outcomes(const std::filesystem::path& path, std::span<const Outcome> outcomes);

/// Errors: `kIo`; `kData` naming file, column and row when something is missing or malformed.
std::vector<Outcome> read_outcomes(const std::filesystem::path& path);

}  // namespace frostline::eval
