#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "frostline/core/fingerprint.h"
#include "frostline/core/json.h"
#include "frostline/data/dataset.h"
#include "frostline/pipeline/feature_source.h"
#include "frostline/power/meter.h"

namespace frostline::train {

/// Versions of this build's libraries, processor, cores and memory.
Json describe_machine();

/// Content of `run.json`: configuration, machine, fingerprints of data set and encoder.
Json describe_run(const Json& config, const data::Dataset& dataset, const Fingerprint& encoder);

/// `power::to_json` with `samples` and `j_per_sample` (null = unmeasured).
Json energy_json(const power::WindowEnergy& energy, std::int64_t samples);

/// `$XDG_CACHE_HOME/frostline`, else `~/.cache/frostline`.
std::filesystem::path default_cache_folder();

}  // namespace frostline::train
