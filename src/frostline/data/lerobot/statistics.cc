#include "frostline/data/lerobot/statistics.h"

#include <algorithm>
#include <cmath>

#include "frostline/core/error.h"

namespace frostline::data {

namespace {

constexpr std::pair<double, std::vector<double> FeatureStatistics::*> kQuantiles[] = {
    {0.01, &FeatureStatistics::q01},
    {0.10, &FeatureStatistics::q10},
    {0.50, &FeatureStatistics::q50},
    {0.90, &FeatureStatistics::q90},
    {0.99, &FeatureStatistics::q99}};

}  // namespace

FeatureStatistics summarise(std::span<const double> values, std::int64_t dim) {
  FROSTLINE_CHECK(dim > 0 && !values.empty());
  const auto stride = static_cast<std::size_t>(dim);
  const std::size_t num_rows = values.size() / stride;
  FeatureStatistics statistics;
  statistics.count = static_cast<std::int64_t>(num_rows);
  std::vector<double> column(num_rows);
  for (std::size_t i = 0; i < stride; ++i) {
    double sum = 0.0;
    for (std::size_t row = 0; row < num_rows; ++row) {
      column[row] = values[row * stride + i];
      sum += column[row];
    }
    const double mean = sum / static_cast<double>(num_rows);
    double squares = 0.0;
    for (const double value : column) {
      squares += (value - mean) * (value - mean);
    }
    std::ranges::sort(column);
    statistics.min.push_back(column.front());
    statistics.max.push_back(column.back());
    statistics.mean.push_back(mean);
    statistics.std.push_back(std::sqrt(squares / static_cast<double>(num_rows)));
    for (const auto& [quantile, member] : kQuantiles) {
      const double position = quantile * static_cast<double>(num_rows - 1);
      const auto low = static_cast<std::size_t>(position);
      const std::size_t high = std::min(low + 1, num_rows - 1);
      const double fraction = position - static_cast<double>(low);
      (statistics.*member).push_back(column[low] + fraction * (column[high] - column[low]));
    }
  }
  return statistics;
}

void ImageHistogram::add(std::span<const std::uint8_t> rgb,
                         std::int64_t height_px,
                         std::int64_t width_px) {
  constexpr std::int64_t kLargeSide_px = 300;
  const bool is_large = std::max(height_px, width_px) >= kLargeSide_px;
  const std::int64_t stride = is_large ? std::max<std::int64_t>(1, width_px / 150) : 1;
  for (std::int64_t y = 0; y < height_px; y += stride) {
    for (std::int64_t x = 0; x < width_px; x += stride) {
      const std::uint8_t* pixel = rgb.data() + (y * width_px + x) * 3;
      ++counts_[0][pixel[0]];
      ++counts_[1][pixel[1]];
      ++counts_[2][pixel[2]];
    }
  }
  ++num_frames_;
}

FeatureStatistics ImageHistogram::summary() const {
  FeatureStatistics statistics;
  statistics.count = num_frames_;
  for (const auto& counts : counts_) {
    double total = 0.0;
    double sum = 0.0;
    for (std::size_t value = 0; value < counts.size(); ++value) {
      total += static_cast<double>(counts[value]);
      sum += static_cast<double>(counts[value]) * static_cast<double>(value);
    }
    const double mean = sum / total;
    double squares = 0.0;
    for (std::size_t value = 0; value < counts.size(); ++value) {
      const double distance = static_cast<double>(value) - mean;
      squares += static_cast<double>(counts[value]) * distance * distance;
    }
    const auto value_at = [&](double position) {
      double before = 0.0;
      for (std::size_t value = 0; value < counts.size(); ++value) {
        before += static_cast<double>(counts[value]);
        if (before > position) {
          return static_cast<double>(value) / 255.0;
        }
      }
      return 1.0;
    };
    statistics.min.push_back(value_at(0.0));
    statistics.max.push_back(value_at(total - 1.0));
    statistics.mean.push_back(mean / 255.0);
    statistics.std.push_back(std::sqrt(squares / total) / 255.0);
    for (const auto& [quantile, member] : kQuantiles) {
      (statistics.*member).push_back(value_at(std::floor(quantile * (total - 1.0))));
    }
  }
  return statistics;
}

FeatureStatistics aggregate(std::span<const FeatureStatistics* const> parts) {
  FROSTLINE_CHECK(!parts.empty());
  FeatureStatistics all;
  for (const FeatureStatistics* part : parts) {
    all.count += part->count;
  }
  const std::size_t dim = parts.front()->mean.size();
  for (std::size_t i = 0; i < dim; ++i) {
    const auto weighted_mean = [&](std::vector<double> FeatureStatistics::*member) {
      double sum = 0.0;
      for (const FeatureStatistics* part : parts) {
        sum += static_cast<double>(part->count) * (part->*member)[i];
      }
      return sum / static_cast<double>(all.count);
    };
    double low = parts.front()->min[i];
    double high = parts.front()->max[i];
    const double mean = weighted_mean(&FeatureStatistics::mean);
    double squares = 0.0;
    for (const FeatureStatistics* part : parts) {
      low = std::min(low, part->min[i]);
      high = std::max(high, part->max[i]);
      const double distance = part->mean[i] - mean;
      squares +=
          static_cast<double>(part->count) * (part->std[i] * part->std[i] + distance * distance);
    }
    all.min.push_back(low);
    all.max.push_back(high);
    all.mean.push_back(mean);
    all.std.push_back(std::sqrt(squares / static_cast<double>(all.count)));
    for (const auto& [quantile, member] : kQuantiles) {
      (all.*member).push_back(weighted_mean(member));
    }
  }
  return all;
}

Json to_json(const FeatureStatistics& statistics, bool is_image) {
  Json document = Json::object();
  for (const auto& [key, member] : kStatisticKeys) {
    Json values = Json::array();
    for (const double value : statistics.*member) {
      values.push_back(is_image ? Json::array({Json::array({value})}) : Json(value));
    }
    document[key] = std::move(values);
  }
  document["count"] = Json::array({statistics.count});
  return document;
}

}  // namespace frostline::data
