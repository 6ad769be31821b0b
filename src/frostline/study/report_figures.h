#pragma once

#include <string>
#include <vector>

#include "frostline/study/report.h"

namespace frostline::study {

/// Success with its interval for every condition and control, as inline SVG in two widths of which
/// the style shows one.
std::string success_figure(const ReportData& data);

/// The interval of one paired difference on a common axis of +-`reach`.
std::string difference_figure(const eval::PairedComparison& comparison, double reach);

/// Part of a run that a timeline shows. Units: ns.
struct TimelineWindow {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  bool has_common_scale = true;
};

/// Chooses what to show of each condition: about three batches of the slowest one, late in the
/// recording, where it is steady; the same duration for all, except for conditions so much faster
/// that their batches could not be told apart. Conditions without spans get an empty window.
std::vector<TimelineWindow> choose_windows(const std::vector<ConditionResult>& conditions);

/// The lanes of one condition as inline SVG in two widths.
std::string timeline_figure(const ConditionResult& condition, const TimelineWindow& window);

/// The phases that occur, each with its colour.
std::string timeline_legend(const std::vector<ConditionResult>& conditions);

/// Share of the recorded time that the trainer waited; empty without spans of the trainer.
std::optional<double> stall_share(const std::vector<pipeline::Span>& spans);

/// Loss over steps, one panel a condition on common axes, the baseline's curve behind each.
std::string loss_figures(const ReportData& data);

}  // namespace frostline::study
