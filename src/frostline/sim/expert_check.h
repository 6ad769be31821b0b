#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "frostline/sim/environment.h"

namespace frostline::sim {

/// What one replayed demonstration did.
struct ExpertTrial {
  std::int64_t first_success_step = -1;  ///< Index of the action that brought success; -1: none.
  bool is_held = false;                  ///< Still in the last stage after the last action.
  Fault fault = Fault::kNone;

  bool is_good() const { return first_success_step >= 0 && is_held && fault == Fault::kNone; }
};

/// Plans for `seed` and replays the actions in `environment`.
ExpertTrial try_expert(Environment& environment, Expert& expert, std::uint64_t seed);

/// Proves that the scripted expert works with the simulator in use, before anything is recorded.
/// Errors: `kUnsupported` naming the seeds that failed, the likely cause and the remedy.
void check_expert(Environment& environment, Expert& expert, std::span<const std::uint64_t> seeds);

/// The same for a built-in task on three seeds; takes about 2 s.
void check_expert(const std::string& task_id);

}  // namespace frostline::sim
