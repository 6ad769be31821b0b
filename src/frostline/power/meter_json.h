#pragma once

#include "frostline/core/json.h"
#include "frostline/power/meter.h"

namespace frostline::power {

/// The meters as `doctor --json` lists them: `[{domain, kind, reason, scope, update_period_ms}]`,
/// `reason` null when there is nothing to explain.
Json meters_to_json(const std::vector<Domain>& domains);

/// Energy of a window: `{duration_s, domains[{domain, kind, reason, joules_j}], total{value, kind,
/// reason}}`; null = unmeasured. Units: J.
Json to_json(const WindowEnergy& energy);

}  // namespace frostline::power
