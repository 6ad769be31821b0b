#include "frostline/policy/normaliser.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "frostline/core/error.h"

namespace frostline::policy {
namespace {

constexpr float kEpsilon = 1e-8F;

}  // namespace

Normaliser::Normaliser(std::vector<float> mean, std::vector<float> std, float smallest_std)
    : mean_(std::move(mean)), std_(std::move(std)) {
  FROSTLINE_REQUIRE(!mean_.empty() && mean_.size() == std_.size(),
                    ErrorCode::kData,
                    "mean and standard deviation do not fit together",
                    fmt::format("mean={} std={} entries ; recompute the data set's statistics",
                                mean_.size(),
                                std_.size()));
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    FROSTLINE_REQUIRE(
        std::isfinite(mean_[i]) && std::isfinite(std_[i]) && std_[i] >= 0,
        ErrorCode::kData,
        "statistic is not usable",
        fmt::format(
            "index={} mean={} std={} ; recompute the data set's statistics", i, mean_[i], std_[i]));
    if (std_[i] < smallest_std) {
      std_[i] = smallest_std;
      raised_.push_back(i);
    }
  }
}

void Normaliser::normalise(std::span<float> rows) const {
  FROSTLINE_CHECK(!mean_.empty() && rows.size() % mean_.size() == 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t column = i % mean_.size();
    rows[i] = (rows[i] - mean_[column]) / (std_[column] + kEpsilon);
  }
}

void Normaliser::unnormalise(std::span<float> rows) const {
  FROSTLINE_CHECK(!mean_.empty() && rows.size() % mean_.size() == 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t column = i % mean_.size();
    rows[i] = rows[i] * std_[column] + mean_[column];
  }
}

}  // namespace frostline::policy
