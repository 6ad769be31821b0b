#include <algorithm>

#include <fmt/format.h>

#include "frostline/study/report.h"
#include "frostline/study/report_format.h"

namespace frostline::study {

namespace {

using Row = std::vector<std::string>;

/// Number of columns that UTF-8 text takes, for text without wide or combining characters.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

/// The first `num_left` columns are aligned to the left, the others to the right.
std::string aligned(const std::vector<Row>& rows, std::size_t num_left) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], columns(row[i]));
    }
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - columns(row[i]), ' ');
      line += i == 0 ? "" : "  ";
      line += i < num_left ? row[i] + padding : padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string figure(const std::optional<double>& value) {
  return value ? significant(*value) : "unmeasured";
}

std::string energy_text(const EnergyFigure& energy) {
  if (!energy.value) {
    return "unmeasured";
  }
  return energy.kind == power::Kind::kMeasured
             ? significant(*energy.value)
             : fmt::format("{} ({})", significant(*energy.value), power::to_string(energy.kind));
}

std::string success_text(const std::optional<SuccessCount>& success) {
  if (!success) {
    return "not rolled out";
  }
  const eval::Interval interval = interval_of(*success);
  return fmt::format(
      "{} ({}-{} %)", count_text(*success), percent(interval.low), percent(interval.high));
}

Row condition_row(const ReportData& data, const ConditionResult& condition) {
  if (!condition.not_run.empty()) {
    return {condition.name, "not run", "", "", "", "", ""};
  }
  const std::optional<double> ratio = time_ratio(condition, data.conditions.front());
  const auto& memory = condition.peak_gpu_memory_bytes ? condition.peak_gpu_memory_bytes
                                                       : condition.peak_host_memory_bytes;
  return {condition.name,
          figure(condition.ms_per_sample),
          ratio ? fmt::format("{:.2f}x", *ratio) : "-",
          figure(condition.samples_per_s),
          energy_text(condition.j_per_sample),
          memory ? bytes_text(*memory) : "unmeasured",
          success_text(condition.success)};
}

/// Why figures are missing, each reason once.
std::string reasons(const ReportData& data) {
  std::vector<std::string> lines;
  const auto add = [&lines](std::string line) {
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) {
      lines.push_back(std::move(line));
    }
  };
  for (const ConditionResult& condition : data.conditions) {
    if (!condition.not_run.empty()) {
      add(fmt::format("{} was not run: {}", condition.name, condition.not_run));
    } else if (!condition.j_per_sample.value) {
      add("energy unmeasured: " + (condition.j_per_sample.reason.empty()
                                       ? std::string("no energy meter was read")
                                       : condition.j_per_sample.reason));
    }
  }
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string table_text(const ReportData& data) {
  std::vector<Row> rows = {
      {"condition", "ms/sample", "time", "samples/s", "J/sample", "memory", "success (95 %)"}};
  for (const ConditionResult& condition : data.conditions) {
    rows.push_back(condition_row(data, condition));
  }
  std::string text = aligned(rows, 1);
  if (!data.controls.empty()) {
    std::vector<Row> controls = {{"control", "policy of", "success (95 %)"}};
    for (const ControlResult& control : data.controls) {
      controls.push_back({control.name, control.condition, success_text(control.success)});
    }
    text += "\n" + aligned(controls, 2);
  }
  if (!data.pairs.empty()) {
    text += "\n";
    for (const PairResult& pair : data.pairs) {
      const eval::PairedComparison& comparison = pair.comparison;
      text += fmt::format("{} - {}: {} points ({} to {}), p = {:.3f}, {} pairs: {}\n",
                          pair.a,
                          pair.b,
                          signed_percent(comparison.difference),
                          signed_percent(comparison.interval.low),
                          signed_percent(comparison.interval.high),
                          comparison.p,
                          comparison.counts.pairs,
                          eval::to_string(comparison.verdict));
    }
  }
  const std::string missing = reasons(data);
  return missing.empty() ? text : text + "\n" + missing;
}

void print_table(const ReportData& data, std::FILE* stream) {
  const std::string text = table_text(data);
  std::fwrite(text.data(), 1, text.size(), stream);
}

}  // namespace frostline::study
