#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frostline/core/json.h"
#include "frostline/data/dataset.h"

namespace frostline::data {

/// The per-dimension figures of LeRobot's statistics, by their key.
inline constexpr std::pair<const char*, std::vector<double> FeatureStatistics::*> kStatisticKeys[] =
    {{"min", &FeatureStatistics::min},
     {"max", &FeatureStatistics::max},
     {"mean", &FeatureStatistics::mean},
     {"std", &FeatureStatistics::std},
     {"q01", &FeatureStatistics::q01},
     {"q10", &FeatureStatistics::q10},
     {"q50", &FeatureStatistics::q50},
     {"q90", &FeatureStatistics::q90},
     {"q99", &FeatureStatistics::q99}};

using NamedStatistics = std::vector<std::pair<std::string, FeatureStatistics>>;

/// Statistics of one episode; standard deviation over the population, quantiles interpolated
/// linearly. Shape: `values` is [rows, dim], at least one row.
FeatureStatistics summarise(std::span<const double> values, std::int64_t dim);

/// Counts pixel values per channel, so that every figure is exact. Of images with a side of 300
/// pixels and more every int(width / 150)-th pixel is taken, as LeRobot does; all frames count.
class ImageHistogram {
 public:
  void add(std::span<const std::uint8_t> rgb, std::int64_t height_px, std::int64_t width_px);
  /// Values in [0, 1]; `count` is the number of frames.
  FeatureStatistics summary() const;

 private:
  std::array<std::array<std::int64_t, 256>, 3> counts_{};
  std::int64_t num_frames_ = 0;
};

/// Of all episodes from those of each: weighted means, parallel variance, quantiles as means
/// weighted by count.
/// Source: LeRobot 0.6.1, `lerobot/datasets/compute_stats.py`, `aggregate_feature_stats`.
FeatureStatistics aggregate(std::span<const FeatureStatistics* const> parts);

/// As `stats.json` holds it; `is_image`: shape [3, 1, 1] instead of [dim].
Json to_json(const FeatureStatistics& statistics, bool is_image);

}  // namespace frostline::data
