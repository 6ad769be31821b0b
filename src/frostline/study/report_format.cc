#include "frostline/study/report_format.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frostline/core/error.h"

namespace frostline::study {

namespace {

constexpr const char* kMinus = "\u2212";
/// Sets thousands apart without a line break.
constexpr const char* kThinSpace = "\u202f";

std::string with_true_minus(std::string text) {
  if (text.starts_with('-')) {
    text.replace(0, 1, kMinus);
  }
  return text;
}

std::string grouped(const std::string& text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t left = point - i;
    const bool is_between_digits = i > 0 && i < point && text[i - 1] != '-';
    if (is_between_digits && left % 3 == 0 && point > 4) {
      result += kThinSpace;
    }
    result += text[i];
  }
  return result;
}

}  // namespace

std::string significant(double value, int digits) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "not a number" : "infinite";
  }
  if (value == 0) {
    return "0";
  }
  const double magnitude = std::floor(std::log10(std::abs(value)));
  if (magnitude < -6 || magnitude > 12) {
    return with_true_minus(fmt::format("{:.{}e}", value, digits - 1));
  }
  const int decimals = std::max(0, digits - 1 - static_cast<int>(magnitude));
  return with_true_minus(grouped(fmt::format("{:.{}f}", value, decimals)));
}

std::string percent(double fraction) {
  const double rounded = std::round(fraction * 1000) / 10;
  // Adding zero turns -0 into 0.
  return with_true_minus(fmt::format("{:.1f}", rounded + 0.0));
}

std::string signed_percent(double fraction) {
  const std::string text = percent(fraction);
  return std::round(fraction * 1000) > 0 ? "+" + text : text;
}

std::string bytes_text(std::int64_t bytes) {
  constexpr double kMebi = 1024.0 * 1024.0;
  const auto value = static_cast<double>(bytes);
  if (value >= 1024 * kMebi) {
    return fmt::format("{} GiB", significant(value / (1024 * kMebi)));
  }
  return fmt::format("{} MiB", significant(value / kMebi));
}

std::string count_text(const SuccessCount& count) {
  return fmt::format("{}/{}", count.k, count.n);
}

eval::Interval interval_of(const SuccessCount& count) {
  return eval::wilson_interval(count.k, count.n);
}

std::string escape(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string describe_condition(const ConditionResult& condition) {
  std::vector<std::string> parts;
  if (condition.boundary) {
    parts.push_back(*condition.boundary);
  }
  for (const std::string& part : {condition.source, condition.backend}) {
    if (!part.empty()) {
      parts.push_back(part);
    }
  }
  if (!condition.encoder_precision.empty()) {
    parts.push_back("encoder " + condition.encoder_precision);
  }
  if (!condition.train_precision.empty()) {
    parts.push_back("training " + condition.train_precision);
  }
  if (condition.steps > 0) {
    parts.push_back(fmt::format("{} steps", grouped(std::to_string(condition.steps))));
  }
  return fmt::format("{}", fmt::join(parts, " \u00b7 "));
}

std::optional<double> time_ratio(const ConditionResult& condition,
                                 const ConditionResult& baseline) {
  if (!condition.ms_per_sample || !baseline.ms_per_sample || *baseline.ms_per_sample <= 0) {
    return std::nullopt;
  }
  return *condition.ms_per_sample / *baseline.ms_per_sample;
}

std::optional<double> energy_ratio(const ConditionResult& condition,
                                   const ConditionResult& baseline,
                                   std::string& why_not) {
  for (const ConditionResult* side : {&baseline, &condition}) {
    if (!side->j_per_sample.value) {
      why_not = side->j_per_sample.reason.empty() ? side->name + " has no energy figure"
                                                  : side->j_per_sample.reason;
      return std::nullopt;
    }
  }
  if (condition.j_per_sample.kind != baseline.j_per_sample.kind) {
    why_not = fmt::format("not compared: {} is {}, {} is {}",
                          condition.name,
                          power::to_string(condition.j_per_sample.kind),
                          baseline.name,
                          power::to_string(baseline.j_per_sample.kind));
    return std::nullopt;
  }
  if (*baseline.j_per_sample.value <= 0) {
    why_not = "the baseline's energy is not positive";
    return std::nullopt;
  }
  return *condition.j_per_sample.value / *baseline.j_per_sample.value;
}

const PairResult* pair_with_baseline(const ReportData& data, const ConditionResult& condition) {
  for (const PairResult& pair : data.pairs) {
    if (pair.a == data.conditions.front().name && pair.b == condition.name) {
      return &pair;
    }
  }
  return nullptr;
}

EnergyFigure energy_per_sample(const power::WindowEnergy& energy,
                               std::int64_t num_samples,
                               std::span<const std::string> required) {
  FROSTLINE_REQUIRE(num_samples > 0,
                    ErrorCode::kUsage,
                    "energy per sample needs samples",
                    fmt::format("num_samples={}", num_samples));
  const auto samples = static_cast<double>(num_samples);
  const power::WindowEnergy::Total total =
      required.empty() ? energy.total() : energy.total(required);
  EnergyFigure figure;
  figure.kind = total.kind;
  figure.reason = total.reason;
  if (total.energy) {
    figure.value = total.energy->value / samples;
  }
  for (const power::DomainEnergy& part : energy.domains) {
    EnergyPart& added = figure.domains.emplace_back();
    added.domain = part.domain.name;
    added.kind = part.domain.kind;
    added.reason = part.domain.reason;
    if (part.energy) {
      added.value = part.energy->value / samples;
    }
  }
  return figure;
}

}  // namespace frostline::study
