#include "frostline/study/report_figures.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "frostline/study/report_format.h"
#include "frostline/study/report_svg.h"

namespace frostline::study {

namespace {

struct SuccessRow {
  std::string label;
  std::optional<SuccessCount> success;
  bool is_control = false;
};

std::vector<SuccessRow> success_rows(const ReportData& data) {
  std::vector<SuccessRow> rows;
  for (const ConditionResult& condition : data.conditions) {
    rows.push_back({condition.name, condition.success, false});
  }
  for (const ControlResult& control : data.controls) {
    rows.push_back(
        {fmt::format("{} ({})", control.name, control.condition), control.success, true});
  }
  return rows;
}

std::string success_picture(const ReportData& data, bool is_wide) {
  const std::vector<SuccessRow> rows = success_rows(data);
  const double width = is_wide ? 960 : 360;
  const double left = is_wide ? 260 : 8;
  const double right = is_wide ? width - 190 : width - 8;
  const double row_height = is_wide ? 30 : 44;
  const double axis = 14 + row_height * static_cast<double>(rows.size());
  Svg svg(width, axis + 34, "Success of each condition and control with 95 % intervals");
  const auto at = [&](double fraction) { return left + (right - left) * fraction; };
  for (int tick = 0; tick <= 100; tick += 25) {
    svg.line(at(tick * 0.01), 6, at(tick * 0.01), axis, "grid");
    const char* anchor = is_wide || (tick > 0 && tick < 100) ? "middle"
                         : tick == 0                         ? "start"
                                                             : "end";
    svg.text(at(tick * 0.01), axis + 16, fmt::format("{} %", tick), anchor, "muted");
  }
  const auto& baseline = data.conditions.front().success;
  if (baseline) {
    const double rate = static_cast<double>(baseline->k) / static_cast<double>(baseline->n);
    svg.line(at(rate), 6, at(rate), axis, "reference");
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SuccessRow& row = rows[i];
    const double top = 10 + row_height * static_cast<double>(i);
    const double middle = is_wide ? top + row_height / 2 : top + 28;
    const double baseline_y = is_wide ? middle + 4 : top + 12;
    svg.text(is_wide ? left - 14 : left,
             baseline_y,
             row.label,
             is_wide ? "end" : "start",
             row.is_control ? "muted" : "label");
    std::string value = "not rolled out";
    if (row.success) {
      const eval::Interval interval = interval_of(*row.success);
      const double rate = static_cast<double>(row.success->k) / static_cast<double>(row.success->n);
      svg.line(at(interval.low),
               middle,
               at(interval.high),
               middle,
               row.is_control ? "interval control" : "interval");
      svg.circle(at(rate), middle, 5, row.is_control ? "point control" : "point");
      value = fmt::format("{} ({}\u2013{} %)",
                          count_text(*row.success),
                          percent(interval.low),
                          percent(interval.high));
    }
    svg.text(is_wide ? width - 4 : right, baseline_y, value, "end", "number");
  }
  return std::move(svg).finish();
}

/// Mean, lowest and highest loss of neighbouring steps, so that a curve stays readable and small.
struct LossBucket {
  double step = 0;
  double mean = 0;
  double low = 0;
  double high = 0;
};

std::vector<LossBucket> bucket(const std::vector<LossPoint>& points) {
  constexpr std::size_t kMaxBuckets = 120;
  const std::size_t size = (points.size() + kMaxBuckets - 1) / kMaxBuckets;
  std::vector<LossBucket> buckets;
  for (std::size_t begin = 0; begin < points.size(); begin += size) {
    const std::size_t end = std::min(points.size(), begin + size);
    LossBucket added{0, 0, points[begin].loss, points[begin].loss};
    for (std::size_t i = begin; i < end; ++i) {
      added.step += static_cast<double>(points[i].step) / static_cast<double>(end - begin);
      added.mean += points[i].loss / static_cast<double>(end - begin);
      added.low = std::min(added.low, points[i].loss);
      added.high = std::max(added.high, points[i].loss);
    }
    buckets.push_back(added);
  }
  return buckets;
}

/// The axes that all panels share.
struct LossAxes {
  double last_step = 1;
  double low = 0;
  double high = 1;
  bool is_logarithmic = false;

  static constexpr double kLeft = 46;
  static constexpr double kRight = 312;
  static constexpr double kTop = 12;
  static constexpr double kBottom = 160;

  double x(double step) const { return kLeft + (kRight - kLeft) * step / last_step; }

  double y(double loss) const {
    const double share = is_logarithmic ? std::log(std::max(loss, low) / low) / std::log(high / low)
                                        : (loss - low) / (high - low);
    return kBottom - (kBottom - kTop) * share;
  }
};

LossAxes loss_axes(const ReportData& data) {
  LossAxes axes;
  double low = INFINITY;
  double high = -INFINITY;
  for (const ConditionResult& condition : data.conditions) {
    for (const LossBucket& point : bucket(condition.loss)) {
      low = std::min(low, point.low);
      high = std::max(high, point.high);
      axes.last_step = std::max(axes.last_step, point.step);
    }
  }
  axes.is_logarithmic = low > 0 && high / low > 8;
  axes.low = axes.is_logarithmic ? low : std::min(0.0, low);
  axes.high = high > axes.low ? high : axes.low + 1;
  return axes;
}

std::vector<double> loss_ticks(const LossAxes& axes) {
  if (!axes.is_logarithmic) {
    return nice_ticks(axes.low, axes.high, 4);
  }
  std::vector<double> ticks;
  for (double decade = std::pow(10, std::floor(std::log10(axes.low))); decade <= axes.high;
       decade *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (decade * factor >= axes.low && decade * factor <= axes.high) {
        ticks.push_back(decade * factor);
      }
    }
  }
  return ticks;
}

std::vector<std::pair<double, double>> mean_curve(const LossAxes& axes,
                                                  const std::vector<LossPoint>& points) {
  std::vector<std::pair<double, double>> curve;
  for (const LossBucket& point : bucket(points)) {
    curve.emplace_back(axes.x(point.step), axes.y(point.mean));
  }
  return curve;
}

std::string loss_panel(const ConditionResult& condition,
                       const ConditionResult* behind,
                       const LossAxes& axes) {
  Svg svg(320, 196, fmt::format("Training loss of {}", condition.name));
  for (const double tick : loss_ticks(axes)) {
    svg.line(LossAxes::kLeft, axes.y(tick), LossAxes::kRight, axes.y(tick), "grid");
    svg.text(LossAxes::kLeft - 6, axes.y(tick) + 4, fmt::format("{:.4g}", tick), "end", "muted");
  }
  for (const double tick : nice_ticks(0, axes.last_step, 4)) {
    svg.text(axes.x(tick), LossAxes::kBottom + 16, significant(tick, 6), "middle", "muted");
  }
  svg.text(
      (LossAxes::kLeft + LossAxes::kRight) / 2, LossAxes::kBottom + 32, "step", "middle", "muted");
  std::vector<std::pair<double, double>> band;
  const std::vector<LossBucket> buckets = bucket(condition.loss);
  for (const LossBucket& point : buckets) {
    band.emplace_back(axes.x(point.step), axes.y(point.high));
  }
  for (auto point = buckets.rbegin(); point != buckets.rend(); ++point) {
    band.emplace_back(axes.x(point->step), axes.y(point->low));
  }
  svg.path(band, "band");
  if (behind != nullptr) {
    svg.path(mean_curve(axes, behind->loss), "curve behind");
  }
  svg.path(mean_curve(axes, condition.loss), "curve");
  return std::move(svg).finish();
}

}  // namespace

std::string success_figure(const ReportData& data) {
  return in_two_widths(success_picture(data, true), success_picture(data, false));
}

std::string difference_figure(const eval::PairedComparison& comparison, double reach) {
  constexpr double kWidth = 200;
  constexpr double kHeight = 26;
  Svg svg(kWidth,
          kHeight,
          fmt::format("{} points, interval {} to {}",
                      signed_percent(comparison.difference),
                      signed_percent(comparison.interval.low),
                      signed_percent(comparison.interval.high)));
  const auto at = [reach](double value) { return kWidth / 2 + (kWidth / 2 - 8) * value / reach; };
  svg.line(8, kHeight / 2, kWidth - 8, kHeight / 2, "grid");
  svg.line(at(0), 2, at(0), kHeight - 2, "reference");
  if (comparison.margin && *comparison.margin <= reach) {
    svg.line(at(*comparison.margin), 2, at(*comparison.margin), kHeight - 2, "margin");
  }
  svg.line(at(comparison.interval.low),
           kHeight / 2,
           at(comparison.interval.high),
           kHeight / 2,
           "interval");
  svg.circle(at(comparison.difference), kHeight / 2, 4.5, "point");
  return std::move(svg).finish();
}

std::string loss_figures(const ReportData& data) {
  const LossAxes axes = loss_axes(data);
  const ConditionResult& baseline = data.conditions.front();
  std::string html = "<div class=\"panels\">\n";
  for (const ConditionResult& condition : data.conditions) {
    if (condition.loss.empty()) {
      continue;
    }
    const bool has_behind = &condition != &baseline && !baseline.loss.empty();
    html += fmt::format("<figure><figcaption>{}, last loss {}</figcaption>\n{}</figure>\n",
                        escape(condition.name),
                        significant(condition.loss.back().loss, 4),
                        loss_panel(condition, has_behind ? &baseline : nullptr, axes));
  }
  return html + "</div>\n";
}

}  // namespace frostline::study
