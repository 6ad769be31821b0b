#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "frostline/eval/record_manifest.h"
#include "frostline/sim/environment.h"

namespace frostline::eval {

/// A demonstration that succeeded, ready to be drawn and stored.
struct Demonstration {
  RecordedEpisode episode;
  std::vector<std::vector<float>> states;  ///< Observed before each action.
  std::vector<std::vector<float>> actions;
  std::vector<sim::Snapshot> snapshots;     ///< The scene at each state.
  std::vector<std::uint64_t> failed_seeds;  ///< Tried since the last demonstration.
};

/// Finds the demonstrations of a data set, seed after seed. One thread.
class DemonstrationSource {
 public:
  struct Options {
    std::int64_t num_episodes = 0;
    std::uint64_t first_seed = 0;
    int strata = 0;
  };

  /// `recorded`: episodes of an earlier call; the search goes on behind the last of them.
  DemonstrationSource(std::unique_ptr<sim::Environment> environment,
                      std::unique_ptr<sim::Expert> expert,
                      const Options& options,
                      const std::vector<RecordedEpisode>& recorded);

  /// Empty when the data set is complete.
  /// Errors: `kData` when most seeds fail; `kInterrupted`.
  std::optional<Demonstration> next();

 private:
  /// Cell of the grid over the start positions; 0 without strata.
  std::int64_t stratum(const std::vector<double>& start_position_m) const;
  std::int64_t stratum_capacity() const;
  bool play(std::uint64_t env_seed, Demonstration& demonstration);

  std::unique_ptr<sim::Environment> environment_;
  std::unique_ptr<sim::Expert> expert_;
  Options options_;
  std::uint64_t next_seed_;
  std::int64_t num_found_ = 0;
  std::int64_t num_failed_ = 0;
  std::int64_t num_passed_over_ = 0;
  std::map<std::int64_t, std::int64_t> stratum_counts_;
};

}  // namespace frostline::eval
