#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frostline/eval/statistics.h"
#include "frostline/study/report.h"

namespace frostline::study {

/// `value` with `digits` significant digits, thousands set apart, without an exponent where a
/// reader does better without it.
std::string significant(double value, int digits = 3);

/// 0.0123 -> `1.2`: points or per cent with one decimal and a true minus sign.
std::string percent(double fraction);

/// As `percent`, with a plus sign where positive.
std::string signed_percent(double fraction);

/// `1.23 GiB`.
std::string bytes_text(std::int64_t bytes);

/// `24/30`.
std::string count_text(const SuccessCount& count);

eval::Interval interval_of(const SuccessCount& count);

/// Makes `text` safe between tags and in attributes.
std::string escape(std::string_view text);

/// The backend, precisions and steps of a condition in a line.
std::string describe_condition(const ConditionResult& condition);

/// `condition` against `baseline`, where both have the figure; the reason in `why_not` otherwise.
std::optional<double> time_ratio(const ConditionResult& condition, const ConditionResult& baseline);
std::optional<double> energy_ratio(const ConditionResult& condition,
                                   const ConditionResult& baseline,
                                   std::string& why_not);

/// The comparison of `condition` with the baseline, if there is one.
const PairResult* pair_with_baseline(const ReportData& data, const ConditionResult& condition);

}  // namespace frostline::study
