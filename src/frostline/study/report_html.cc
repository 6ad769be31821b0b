#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frostline/core/error.h"
#include "frostline/core/file.h"
#include "frostline/study/report.h"
#include "frostline/study/report_figures.h"
#include "frostline/study/report_format.h"
#include "frostline/study/report_sections.h"
#include "frostline/study/report_style.h"

namespace frostline::study {

namespace {

/// The condition with the least time a sample, except the baseline; null without a figure.
const ConditionResult* fastest(const ReportData& data) {
  const ConditionResult* best = nullptr;
  for (std::size_t i = 1; i < data.conditions.size(); ++i) {
    const ConditionResult& condition = data.conditions[i];
    if (condition.ms_per_sample &&
        (best == nullptr || *condition.ms_per_sample < *best->ms_per_sample)) {
      best = &condition;
    }
  }
  return best;
}

std::string energy_sentence(const ConditionResult& condition, const ConditionResult& baseline) {
  std::string why_not;
  const std::optional<double> ratio = energy_ratio(condition, baseline, why_not);
  if (ratio) {
    return fmt::format("It uses {:.2f} times the energy ({} against {} J a sample, {}).",
                       *ratio,
                       significant(*condition.j_per_sample.value),
                       significant(*baseline.j_per_sample.value),
                       power::to_string(condition.j_per_sample.kind));
  }
  return fmt::format("Energy cannot be compared: {}.", escape(why_not));
}

std::string lead(const ReportData& data) {
  const ConditionResult& baseline = data.conditions.front();
  const ConditionResult* best = fastest(data);
  const std::optional<double> ratio = best == nullptr ? std::nullopt : time_ratio(*best, baseline);
  if (!ratio) {
    return fmt::format("Time a sample is unmeasured for {}, so no condition can be set against it.",
                       escape(baseline.name));
  }
  std::string text = fmt::format(
      "<strong>{}</strong> is the fastest alternative: {:.2f} times the time of "
      "<strong>{}</strong> a "
      "sample ({} against {} ms). ",
      escape(best->name),
      *ratio,
      escape(baseline.name),
      significant(*best->ms_per_sample),
      significant(*baseline.ms_per_sample));
  text += energy_sentence(*best, baseline);
  if (const PairResult* pair = pair_with_baseline(data, *best)) {
    text += fmt::format(" In rollouts: {}.",
                        escape(eval::describe(pair->comparison, pair->a, pair->b)));
  } else {
    text += " No paired rollouts compare the two.";
  }
  return text;
}

std::string tile(const ReportData& data, const ConditionResult& condition) {
  const ConditionResult& baseline = data.conditions.front();
  std::string html =
      fmt::format("<section class=\"tile\"><h3>{}</h3>\n<dl>", escape(condition.name));
  const std::optional<double> time = time_ratio(condition, baseline);
  html += fmt::format("<dt>time a sample</dt><dd>{}</dd>",
                      time ? fmt::format("<strong>{:.2f} \u00d7</strong>", *time)
                           : std::string("<span class=\"unmeasured\">unmeasured</span>"));
  std::string why_not;
  const std::optional<double> energy = energy_ratio(condition, baseline, why_not);
  html += fmt::format(
      "<dt>energy a sample</dt><dd>{}</dd>",
      energy ? fmt::format("<strong>{:.2f} \u00d7</strong> <span class=\"kind\">{}</span>",
                           *energy,
                           power::to_string(condition.j_per_sample.kind))
             : std::string("<span class=\"unmeasured\">not comparable</span>"));
  const PairResult* pair = pair_with_baseline(data, condition);
  if (pair != nullptr) {
    const eval::PairedComparison& comparison = pair->comparison;
    // A reader expects the change from the baseline: B minus A.
    html += fmt::format(
        "<dt>success</dt><dd><strong>{}</strong> points<span class=\"sub\">95 %: {} to "
        "{}</span></dd>",
        signed_percent(-comparison.difference),
        signed_percent(-comparison.interval.high),
        signed_percent(-comparison.interval.low));
  } else {
    html += "<dt>success</dt><dd><span class=\"unmeasured\">no paired rollouts</span></dd>";
  }
  return html + "</dl></section>\n";
}

std::string headline(const ReportData& data) {
  std::string html = fmt::format("<header><h1>{}</h1>\n", escape(data.title));
  if (!data.date.empty()) {
    html += fmt::format("<p class=\"soft\">{}</p>\n", escape(data.date));
  }
  html += fmt::format("<p class=\"lead\">{}</p>\n</header>\n", lead(data));
  if (data.conditions.size() > 1) {
    html += fmt::format("<p class=\"soft\">Against {}:</p>\n<div class=\"tiles\">\n",
                        escape(data.conditions.front().name));
    for (std::size_t i = 1; i < data.conditions.size(); ++i) {
      if (data.conditions[i].not_run.empty()) {
        html += tile(data, data.conditions[i]);
      }
    }
    html += "</div>\n";
  }
  return html;
}

std::string timeline_section(const ReportData& data) {
  const bool has_spans = std::any_of(
      data.conditions.begin(), data.conditions.end(), [](const ConditionResult& condition) {
        return !condition.spans.empty();
      });
  if (!has_spans) {
    return "<h2>Overlap timeline</h2>\n<p class=\"unmeasured\">No phases were recorded.</p>\n";
  }
  std::string html =
      "<h2>Overlap timeline</h2>\n<p>Which device works on which batch; numbers are batches. Where "
      "the encoder works on batch N+1 while the trainer works on batch N, its time is hidden; "
      "hatched is the trainer waiting.</p>\n";
  html += timeline_legend(data.conditions);
  const std::vector<TimelineWindow> windows = choose_windows(data.conditions);
  for (std::size_t i = 0; i < data.conditions.size(); ++i) {
    const ConditionResult& condition = data.conditions[i];
    if (condition.spans.empty()) {
      continue;
    }
    const std::optional<double> stall = stall_share(condition.spans);
    html += fmt::format("<figure><figcaption><strong>{}</strong>{}{}</figcaption>\n{}</figure>\n",
                        escape(condition.name),
                        stall ? fmt::format(": the trainer waits {} % of the time", percent(*stall))
                              : std::string(),
                        windows[i].has_common_scale ? "" : " (on a time scale of its own)",
                        timeline_figure(condition, windows[i]));
  }
  return html;
}

std::string loss_section(const ReportData& data) {
  const bool has_loss = std::any_of(
      data.conditions.begin(), data.conditions.end(), [](const ConditionResult& condition) {
        return !condition.loss.empty();
      });
  if (!has_loss) {
    return "<h2>Training loss</h2>\n<p class=\"unmeasured\">No loss was recorded.</p>\n";
  }
  return fmt::format(
      "<h2>Training loss</h2>\n<p>Mean of neighbouring steps, with their range shaded; dashed: {}. "
      "All panels share their axes.</p>\n{}",
      escape(data.conditions.front().name),
      loss_figures(data));
}

}  // namespace

std::string report_html(const ReportData& data) {
  FROSTLINE_REQUIRE(!data.conditions.empty(),
                    ErrorCode::kUsage,
                    "a report needs a condition",
                    "conditions=0 ; the first one is gpu_only");
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<svg class=\"defs\" aria-hidden=\"true\"><defs><pattern id=\"hatch\" width=\"6\" "
      "height=\"6\" "
      "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><line x1=\"0\" y1=\"0\" "
      "x2=\"0\" y2=\"6\"/></pattern></defs></svg>\n<main>\n",
      escape(data.title),
      report_style());
  html += headline(data);
  html += condition_section(data);
  html += success_section(data);
  html += pair_section(data);
  html += timeline_section(data);
  html += parity_section(data);
  html += loss_section(data);
  html += meter_section(data);
  html += set_up_section(data);
  html += "</main>\n</body>\n</html>\n";
  return html;
}

void write_report_html(const ReportData& data, const std::filesystem::path& path) {
  write_file_atomic(path, report_html(data));
}

}  // namespace frostline::study
