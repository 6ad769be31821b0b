#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "frostline/core/clock.h"
#include "frostline/study/report_figures.h"
#include "frostline/study/report_format.h"
#include "frostline/study/report_svg.h"

namespace frostline::study {

namespace {

using pipeline::Span;

constexpr std::string_view kTrainer = "trainer";
constexpr std::string_view kStall = "stall";

/// Phases that the style gives a colour of their own, in the order of the work.
constexpr std::array kPhases = {"decode",
                                "preprocess",
                                "load",
                                "encode",
                                "transfer",
                                "tail",
                                "forward",
                                "backward",
                                "optimiser",
                                "train",
                                "stall"};

std::string phase_class(const std::string& phase) {
  const bool is_known = std::find(kPhases.begin(), kPhases.end(), phase) != kPhases.end();
  return "bar ph-" + (is_known ? phase : std::string("other"));
}

struct Recording {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t start_ns = 0;  ///< Where the trainer begins a batch late in the recording.
  double period_ns = 0;       ///< Mean time from batch to batch.
};

/// The trainer's spans where there are any, else all.
std::vector<Span> leading_spans(const std::vector<Span>& spans) {
  std::vector<Span> leading;
  std::copy_if(spans.begin(), spans.end(), std::back_inserter(leading), [](const Span& span) {
    return span.lane == kTrainer;
  });
  return leading.empty() ? spans : leading;
}

Recording summarise(const std::vector<Span>& spans) {
  std::map<std::int64_t, std::int64_t> first_of_step;
  Recording recording{spans.front().begin_ns, spans.front().end_ns, 0, 0};
  for (const Span& span : leading_spans(spans)) {
    const auto [entry, is_new] = first_of_step.emplace(span.step, span.begin_ns);
    entry->second = std::min(entry->second, span.begin_ns);
    recording.begin_ns = std::min(recording.begin_ns, span.begin_ns);
    recording.end_ns = std::max(recording.end_ns, span.end_ns);
  }
  const auto steps = static_cast<double>(first_of_step.size());
  recording.period_ns = static_cast<double>(recording.end_ns - recording.begin_ns) / steps;
  recording.start_ns =
      std::next(first_of_step.begin(), static_cast<std::ptrdiff_t>(first_of_step.size() * 2 / 3))
          ->second;
  return recording;
}

std::vector<std::string> lanes_of(const std::vector<Span>& spans) {
  std::vector<std::string> lanes;
  for (const char* known : {"decode", "encoder", "trainer"}) {
    if (std::any_of(spans.begin(), spans.end(), [&](const Span& s) { return s.lane == known; })) {
      lanes.emplace_back(known);
    }
  }
  for (const Span& span : spans) {
    if (std::find(lanes.begin(), lanes.end(), span.lane) == lanes.end()) {
      lanes.push_back(span.lane);
    }
  }
  return lanes;
}

std::vector<Span> clip(const std::vector<Span>& spans, const TimelineWindow& window) {
  std::vector<Span> clipped;
  for (Span span : spans) {
    span.begin_ns = std::max(span.begin_ns, window.begin_ns);
    span.end_ns = std::min(span.end_ns, window.end_ns);
    if (span.end_ns > span.begin_ns) {
      clipped.push_back(std::move(span));
    }
  }
  std::stable_sort(clipped.begin(), clipped.end(), [](const Span& a, const Span& b) {
    return a.begin_ns < b.begin_ns;
  });
  return clipped;
}

/// Spans of one lane that overlap (several requests in flight) go to rows of their own.
std::vector<std::vector<Span>> pack(const std::vector<Span>& spans, const std::string& lane) {
  std::vector<std::vector<Span>> rows;
  for (const Span& span : spans) {
    if (span.lane != lane) {
      continue;
    }
    const auto free = std::find_if(rows.begin(), rows.end(), [&span](const auto& row) {
      return row.back().end_ns <= span.begin_ns;
    });
    if (free == rows.end()) {
      rows.push_back({span});
    } else {
      free->push_back(span);
    }
  }
  return rows;
}

/// Of the spans of one batch in a row only the widest carries the number.
std::set<const Span*> labelled(const std::vector<Span>& row) {
  std::map<std::int64_t, const Span*> widest;
  for (const Span& span : row) {
    const Span*& best = widest[span.step];
    if (span.phase != kStall &&
        (best == nullptr || span.end_ns - span.begin_ns > best->end_ns - best->begin_ns)) {
      best = &span;
    }
  }
  std::set<const Span*> result;
  for (const auto& [step, span] : widest) {
    result.insert(span);
  }
  return result;
}

class TimelinePicture {
 public:
  TimelinePicture(const ConditionResult& condition, const TimelineWindow& window, bool is_wide)
      : window_(window), width_(is_wide ? 960 : 360), left_(is_wide ? 80 : 58) {
    const std::vector<Span> spans = clip(condition.spans, window);
    for (const std::string& lane : lanes_of(condition.spans)) {
      lanes_.emplace_back(lane, pack(spans, lane));
    }
    num_ticks_ = is_wide ? 10 : 4;
    name_ = condition.name;
  }

  std::string draw() const {
    double height = 4;
    for (const auto& [lane, rows] : lanes_) {
      height += lane_height(rows) + kGap;
    }
    Svg svg(width_, height + 36, fmt::format("Overlap timeline of {}", name_));
    draw_axis(svg, height);
    double top = 4;
    for (const auto& [lane, rows] : lanes_) {
      svg.text(left_ - 8, top + lane_height(rows) / 2 + 4, lane, "end", "label");
      svg.rect(left_, top, width_ - left_ - kRight, lane_height(rows), "lane");
      for (std::size_t i = 0; i < rows.size(); ++i) {
        draw_row(svg, rows[i], top + kRow * static_cast<double>(i));
      }
      top += lane_height(rows) + kGap;
    }
    return std::move(svg).finish();
  }

 private:
  using Rows = std::vector<std::vector<Span>>;

  static constexpr double kRow = 24;
  static constexpr double kGap = 6;
  static constexpr double kRight = 6;

  static double lane_height(const Rows& rows) {
    return kRow * static_cast<double>(std::max<std::size_t>(1, rows.size()));
  }

  double x(std::int64_t time_ns) const {
    return left_ + (width_ - left_ - kRight) * static_cast<double>(time_ns - window_.begin_ns) /
                       static_cast<double>(window_.end_ns - window_.begin_ns);
  }

  void draw_axis(Svg& svg, double bottom) const {
    const double duration_ms = seconds(window_.end_ns - window_.begin_ns) * 1e3;
    for (const double tick : nice_ticks(0, duration_ms, num_ticks_)) {
      const double position = left_ + (width_ - left_ - kRight) * tick / duration_ms;
      svg.line(position, 2, position, bottom, "grid");
      svg.text(position, bottom + 14, fmt::format("{:.4g}", tick), "middle", "muted");
    }
    svg.text(left_ - 8, bottom + 14, "ms", "end", "muted");
  }

  void draw_row(Svg& svg, const std::vector<Span>& row, double top) const {
    const std::set<const Span*> with_label = labelled(row);
    for (const Span& span : row) {
      const double begin = x(span.begin_ns);
      const double width = std::max(0.6, x(span.end_ns) - begin);
      svg.rect(begin,
               top + 2,
               width,
               kRow - 4,
               phase_class(span.phase),
               fmt::format("batch {}: {} {} ms",
                           span.step,
                           span.phase,
                           significant(seconds(span.end_ns - span.begin_ns) * 1e3)));
      const std::string label = std::to_string(span.step);
      if (with_label.contains(&span) && width > 7.0 * static_cast<double>(label.size()) + 3) {
        svg.text(begin + width / 2, top + kRow / 2 + 4, label, "middle", "batch");
      }
    }
  }

  TimelineWindow window_;
  double width_;
  double left_;
  int num_ticks_ = 10;
  std::string name_;
  std::vector<std::pair<std::string, Rows>> lanes_;
};

}  // namespace

std::vector<TimelineWindow> choose_windows(const std::vector<ConditionResult>& conditions) {
  constexpr double kBatches = 3;
  constexpr double kMaxBatches = 14;
  double slowest_ns = 0;
  for (const ConditionResult& condition : conditions) {
    if (!condition.spans.empty()) {
      slowest_ns = std::max(slowest_ns, summarise(condition.spans).period_ns);
    }
  }
  std::vector<TimelineWindow> windows;
  for (const ConditionResult& condition : conditions) {
    TimelineWindow& window = windows.emplace_back();
    if (condition.spans.empty()) {
      continue;
    }
    const Recording recording = summarise(condition.spans);
    double duration_ns = kBatches * slowest_ns;
    if (duration_ns > kMaxBatches * recording.period_ns) {
      duration_ns = kMaxBatches / 2 * recording.period_ns;
      window.has_common_scale = false;
    }
    const auto duration = std::max<std::int64_t>(1, std::llround(duration_ns));
    window.begin_ns =
        std::max(recording.begin_ns, std::min(recording.start_ns, recording.end_ns - duration));
    window.end_ns = window.begin_ns + duration;
  }
  return windows;
}

std::string timeline_figure(const ConditionResult& condition, const TimelineWindow& window) {
  return in_two_widths(TimelinePicture(condition, window, true).draw(),
                       TimelinePicture(condition, window, false).draw());
}

std::string timeline_legend(const std::vector<ConditionResult>& conditions) {
  std::set<std::string> present;
  for (const ConditionResult& condition : conditions) {
    for (const Span& span : condition.spans) {
      present.insert(span.phase);
    }
  }
  std::vector<std::string> ordered;
  for (const char* phase : kPhases) {
    if (present.erase(phase) > 0) {
      ordered.emplace_back(phase);
    }
  }
  ordered.insert(ordered.end(), present.begin(), present.end());
  std::string html = "<p class=\"legend\">";
  for (const std::string& phase : ordered) {
    html += fmt::format(
        "<span><svg viewBox=\"0 0 14 14\" class=\"key\" aria-hidden=\"true\"><rect width=\"14\" "
        "height=\"14\" class=\"{}\"/></svg>{}</span> ",
        escape(phase_class(phase)),
        escape(phase));
  }
  return html + "</p>\n";
}

std::optional<double> stall_share(const std::vector<Span>& spans) {
  std::optional<std::int64_t> begin_ns;
  std::int64_t end_ns = 0;
  std::int64_t stall_ns = 0;
  for (const Span& span : spans) {
    if (span.lane != kTrainer) {
      continue;
    }
    begin_ns = std::min(begin_ns.value_or(span.begin_ns), span.begin_ns);
    end_ns = std::max(end_ns, span.end_ns);
    stall_ns += span.phase == kStall ? span.end_ns - span.begin_ns : 0;
  }
  if (!begin_ns || end_ns <= *begin_ns) {
    return std::nullopt;
  }
  return static_cast<double>(stall_ns) / static_cast<double>(end_ns - *begin_ns);
}

}  // namespace frostline::study
