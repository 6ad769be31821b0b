#pragma once

#include <string>

#include "frostline/core/json.h"
#include "frostline/policy/ar_actor_spec.h"

namespace frostline::policy {

/// Result of `policy info --json`: policy, preset, stages, parameters{encoder, expert, total,
/// by_module}. `preset` is null when `spec` equals none.
Json info(const ArActorSpec& spec);

}  // namespace frostline::policy
