#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace frostline::eval {

/// A two-sided interval. Units: fractions.
struct Interval {
  double low = 0;
  double high = 0;
};

/// How sure an interval is.
enum class Confidence { k90, k95 };

/// Wilson's score interval of a success rate.
/// Errors: `kUsage` unless 0 <= successes <= trials and trials > 0.
/// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
/// J. Am. Stat. Assoc. 22, 1927; test vectors: 840/900 -> 91.5..94.8 %, 280/300 -> 89.9..95.6 %.
Interval wilson_interval(std::int64_t successes,
                         std::int64_t trials,
                         Confidence confidence = Confidence::k95);

/// The outcomes of pairs: the same environment seed under policies A and B.
struct PairCounts {
  std::int64_t pairs = 0;
  std::int64_t a_only = 0;  ///< Only A succeeds.
  std::int64_t b_only = 0;  ///< Only B succeeds.
};

/// Exact two-sided McNemar test of equal success rates; conservative.
/// Errors: `kUsage` for negative counts.
/// Source: Q. McNemar, Psychometrika 12, 1947, with the binomial tail instead of chi squared; test
/// vectors: (43, 26) -> 0.053, (30, 17) -> 0.079.
double mcnemar_exact(std::int64_t a_only, std::int64_t b_only);

/// Mid-p McNemar test: as the exact one with half the weight of what was seen.
/// Errors: `kUsage` for negative counts.
/// Source: M. W. Fagerland, S. Lydersen, P. Laake, "The McNemar test for binary matched-pairs data:
/// mid-p and asymptotic are better than exact conditional", BMC Med. Res. Methodol. 13:91, 2013;
/// test vectors: (43, 26) -> 0.041, (30, 17) -> 0.0595.
double mcnemar_mid_p(std::int64_t a_only, std::int64_t b_only);

/// Tango's score interval of pA - pB.
/// Errors: `kUsage` unless the counts fit together and there is a pair.
/// Source: T. Tango, "Equivalence test and confidence interval for the difference in proportions
/// for the paired-sample design", Stat. Med. 17, 1998; test vectors (a_only, b_only, pairs): (43,
/// 26, 900) -> +0.082..+3.772 points, (9, 1, 54) -> .0413...2733, (0, 0, 30) -> -.1135..+.1135.
Interval tango_interval(const PairCounts& counts, Confidence confidence = Confidence::k95);

/// What a comparison of A with B shows.
enum class Verdict { kNoDifferenceShown, kABetter, kBBetter, kNonInferior };

/// The stable name, for example `no_difference_shown`.
std::string to_string(Verdict verdict);

/// A comparison of two policies on common environment seeds.
struct PairedComparison {
  PairCounts counts;
  double difference = 0;  ///< pA - pB.
  Interval interval;      ///< Tango, 95 %.
  Interval one_sided;     ///< Tango, 90 %: its upper end decides on non-inferiority.
  double p = 1;           ///< Mid-p McNemar, two-sided.
  std::optional<double> margin;
  Verdict verdict = Verdict::kNoDifferenceShown;
};

/// Compares A with B. With p < 0.05 one of them is better. Otherwise B is not inferior to A when a
/// `margin`, fixed before looking, lies above the upper end of the 90 % interval of pA - pB; else
/// no difference is shown, which does not mean that there is none. Errors: `kUsage` for counts that
/// do not fit together, or a margin outside (0, 1).
PairedComparison compare(const PairCounts& counts, std::optional<double> margin = std::nullopt);

/// The verdict in a sentence with its figures, `a` and `b` naming the policies.
std::string describe(const PairedComparison& comparison,
                     const std::string& a,
                     const std::string& b);

/// One rollout that counts: infrastructure failures are left out by the caller.
struct SeedOutcome {
  std::int64_t env_seed = 0;
  bool success = false;
};

/// Pairs two outcome lists by environment seed, in any order; seeds that only one list has are left
/// out. Errors: `kUsage` when a list has a seed twice or they have none in common.
PairCounts pair_outcomes(std::span<const SeedOutcome> a, std::span<const SeedOutcome> b);

}  // namespace frostline::eval
