#include "frostline/eval/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "frostline/core/error.h"

namespace frostline::eval {

namespace {

double quantile(Confidence confidence) {
  return confidence == Confidence::k95 ? 1.959963984540054 : 1.6448536269514722;
}

void require_discordant(std::int64_t a_only, std::int64_t b_only) {
  FROSTLINE_REQUIRE(a_only >= 0 && b_only >= 0,
                    ErrorCode::kUsage,
                    "counts of pairs must not be negative",
                    fmt::format("a_only={} b_only={}", a_only, b_only));
}

void require_counts(const PairCounts& counts) {
  require_discordant(counts.a_only, counts.b_only);
  FROSTLINE_REQUIRE(
      counts.pairs > 0 && counts.a_only + counts.b_only <= counts.pairs,
      ErrorCode::kUsage,
      "counts of pairs do not fit together",
      fmt::format("pairs={} a_only={} b_only={}", counts.pairs, counts.a_only, counts.b_only));
}

/// Probability of exactly `k` of `n` fair coins.
double fair_binomial(std::int64_t k, std::int64_t n) {
  const auto x = static_cast<double>(k);
  const auto m = static_cast<double>(n);
  return std::exp(std::lgamma(m + 1) - std::lgamma(x + 1) - std::lgamma(m - x + 1) -
                  m * std::log(2.0));
}

/// Tango's score statistic at `delta`; falls as `delta` grows.
double score(const PairCounts& counts, double delta) {
  const auto n = static_cast<double>(counts.pairs);
  const auto b = static_cast<double>(counts.a_only);
  const auto c = static_cast<double>(counts.b_only);
  const double quadratic = 2 * n;
  const double linear = -b - c + (2 * n - b + c) * delta;
  const double constant = -c * delta * (1 - delta);
  const double root = std::sqrt(std::max(0.0, linear * linear - 4 * quadratic * constant));
  const double q = (root - linear) / (2 * quadratic);
  const double numerator = b - c - n * delta;
  const double variance = n * (2 * q + delta * (1 - delta));
  if (variance > 0) {
    return numerator / std::sqrt(variance);
  }
  return numerator == 0 ? 0 : std::copysign(INFINITY, numerator);
}

/// The `delta` in [low, high] where the score crosses `target`.
double solve_score(const PairCounts& counts, double low, double high, double target) {
  // 60 halvings of an interval of at most 2 reach the resolution of a double.
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (score(counts, middle) > target ? low : high) = middle;
  }
  return (low + high) / 2;
}

std::string points(double fraction) {
  return fmt::format("{:.1f} points", 100 * fraction);
}

}  // namespace

Interval wilson_interval(std::int64_t successes, std::int64_t trials, Confidence confidence) {
  FROSTLINE_REQUIRE(trials > 0 && successes >= 0 && successes <= trials,
                    ErrorCode::kUsage,
                    "successes and trials do not fit together",
                    fmt::format("successes={} trials={}", successes, trials));
  const auto n = static_cast<double>(trials);
  const double p = static_cast<double>(successes) / n;
  const double z = quantile(confidence);
  const double scale = 1 + z * z / n;
  const double centre = (p + z * z / (2 * n)) / scale;
  const double half = z / scale * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  // The ends are exact where they are known; rounding would leave a tiny remainder.
  return {successes == 0 ? 0.0 : centre - half, successes == trials ? 1.0 : centre + half};
}

double mcnemar_exact(std::int64_t a_only, std::int64_t b_only) {
  require_discordant(a_only, b_only);
  double tail = 0;
  for (std::int64_t i = 0; i <= std::min(a_only, b_only); ++i) {
    tail += fair_binomial(i, a_only + b_only);
  }
  return std::min(1.0, 2 * tail);
}

double mcnemar_mid_p(std::int64_t a_only, std::int64_t b_only) {
  require_discordant(a_only, b_only);
  double tail = 0;
  for (std::int64_t i = 0; i < std::min(a_only, b_only); ++i) {
    tail += fair_binomial(i, a_only + b_only);
  }
  return std::min(1.0, 2 * tail + fair_binomial(std::min(a_only, b_only), a_only + b_only));
}

Interval tango_interval(const PairCounts& counts, Confidence confidence) {
  require_counts(counts);
  const double z = quantile(confidence);
  const double centre =
      static_cast<double>(counts.a_only - counts.b_only) / static_cast<double>(counts.pairs);
  return {solve_score(counts, -1, centre, z), solve_score(counts, centre, 1, -z)};
}

std::string to_string(Verdict verdict) {
  constexpr std::array kNames = {"no_difference_shown", "a_better", "b_better", "non_inferior"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

PairedComparison compare(const PairCounts& counts, std::optional<double> margin) {
  require_counts(counts);
  FROSTLINE_REQUIRE(
      !margin || (*margin > 0 && *margin < 1),
      ErrorCode::kUsage,
      "the margin of non-inferiority is not within (0, 1)",
      fmt::format("margin={} ; give a fraction: 0.05 is 5 points", margin.value_or(0)));
  PairedComparison result;
  result.counts = counts;
  result.difference =
      static_cast<double>(counts.a_only - counts.b_only) / static_cast<double>(counts.pairs);
  result.interval = tango_interval(counts, Confidence::k95);
  result.one_sided = tango_interval(counts, Confidence::k90);
  result.p = mcnemar_mid_p(counts.a_only, counts.b_only);
  result.margin = margin;
  if (result.p < 0.05) {
    result.verdict = result.difference > 0 ? Verdict::kABetter : Verdict::kBBetter;
  } else if (margin && result.one_sided.high < *margin) {
    result.verdict = Verdict::kNonInferior;
  }
  return result;
}

std::string describe(const PairedComparison& comparison,
                     const std::string& a,
                     const std::string& b) {
  switch (comparison.verdict) {
    case Verdict::kABetter:
      return fmt::format("{} succeeds more often than {}, by {} to {}",
                         a,
                         b,
                         points(std::max(0.0, comparison.interval.low)),
                         points(comparison.interval.high));
    case Verdict::kBBetter:
      return fmt::format("{} succeeds more often than {}, by {} to {}",
                         b,
                         a,
                         points(std::max(0.0, -comparison.interval.high)),
                         points(-comparison.interval.low));
    case Verdict::kNonInferior:
      return fmt::format("{} is not inferior to {}: any loss is below the margin of {}",
                         b,
                         a,
                         points(comparison.margin.value_or(0)));
    case Verdict::kNoDifferenceShown:
      return fmt::format(
          "no difference larger than {} between {} and {}; smaller ones cannot be "
          "told from chance with {} pairs",
          points(std::max(std::abs(comparison.interval.low), std::abs(comparison.interval.high))),
          a,
          b,
          comparison.counts.pairs);
  }
  return {};
}

PairCounts pair_outcomes(std::span<const SeedOutcome> a, std::span<const SeedOutcome> b) {
  const auto index = [](std::span<const SeedOutcome> outcomes, const char* name) {
    std::map<std::int64_t, bool> by_seed;
    for (const SeedOutcome& outcome : outcomes) {
      FROSTLINE_REQUIRE(by_seed.emplace(outcome.env_seed, outcome.success).second,
                        ErrorCode::kUsage,
                        "an environment seed occurs twice in one outcome list",
                        fmt::format("list={} env_seed={} ; compare one training seed and one "
                                    "control at a time",
                                    name,
                                    outcome.env_seed));
    }
    return by_seed;
  };
  const auto by_seed_a = index(a, "a");
  const auto by_seed_b = index(b, "b");
  PairCounts counts;
  for (const auto& [seed, success_a] : by_seed_a) {
    if (const auto found = by_seed_b.find(seed); found != by_seed_b.end()) {
      ++counts.pairs;
      counts.a_only += success_a && !found->second ? 1 : 0;
      counts.b_only += !success_a && found->second ? 1 : 0;
    }
  }
  FROSTLINE_REQUIRE(
      counts.pairs > 0,
      ErrorCode::kUsage,
      "the two outcome lists have no environment seed in common",
      fmt::format("a={} rollouts, b={} rollouts ; roll both out over the same --seeds",
                  a.size(),
                  b.size()));
  return counts;
}

}  // namespace frostline::eval
