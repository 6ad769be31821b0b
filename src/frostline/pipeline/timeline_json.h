#pragma once

#include <filesystem>
#include <vector>

#include "frostline/pipeline/feature_source.h"

namespace frostline::pipeline {

/// Writes spans as Chrome trace events, one track a lane; opens in Perfetto.
/// Source: Trace Event Format, "X" complete events, microseconds.
void write_timeline_json(const std::filesystem::path& path, const std::vector<Span>& spans);

}  // namespace frostline::pipeline
