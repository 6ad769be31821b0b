#include "frostline/study/report_sections.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frostline/study/report_figures.h"
#include "frostline/study/report_format.h"

namespace frostline::study {

namespace {

/// Numbered notes under a table; the same text has one number.
class Notes {
 public:
  std::string mark(const std::string& text) {
    const auto found = std::find(texts_.begin(), texts_.end(), text);
    const auto number = static_cast<std::size_t>(found - texts_.begin()) + 1;
    if (found == texts_.end()) {
      texts_.push_back(text);
    }
    return fmt::format("<sup>{}</sup>", number);
  }

  std::string html() const {
    if (texts_.empty()) {
      return {};
    }
    std::string list = "<ol class=\"notes\">";
    for (const std::string& text : texts_) {
      list += fmt::format("<li>{}</li>", escape(text));
    }
    return list + "</ol>\n";
  }

 private:
  std::vector<std::string> texts_;
};

std::string number_cell(std::string_view label, std::string_view content) {
  return fmt::format("<td class=\"num\" data-label=\"{}\"><span>{}</span></td>", label, content);
}

std::string unmeasured() {
  return "<span class=\"unmeasured\">unmeasured</span>";
}

std::string with_unit(const std::string& value, std::string_view unit) {
  return fmt::format("{} <span class=\"unit\">{}</span>", value, unit);
}

std::string energy_cell(const EnergyFigure& energy,
                        const std::optional<double>& without_store,
                        Notes& notes) {
  if (!energy.value) {
    const std::string reason = energy.reason.empty() ? "no energy meter was read" : energy.reason;
    return unmeasured() + notes.mark("Energy unmeasured: " + reason);
  }
  std::vector<std::string> domains;
  for (const EnergyPart& part : energy.domains) {
    domains.push_back(escape(part.domain));
  }
  std::string cell = with_unit(significant(*energy.value), "J");
  cell += fmt::format("<span class=\"sub\">{}{}{}{}</span>",
                      power::to_string(energy.kind),
                      domains.empty() ? "" : ": ",
                      fmt::join(domains, " + "),
                      energy.reason.empty() ? "" : notes.mark("Energy: " + energy.reason));
  if (without_store) {
    cell += fmt::format("<span class=\"sub\">{} J without<br>building the store</span>",
                        significant(*without_store));
  }
  return cell;
}

std::string time_cell(const ConditionResult& condition, Notes& notes) {
  if (!condition.ms_per_sample) {
    return unmeasured() + notes.mark("Time unmeasured: the condition has no timed steps");
  }
  std::string cell = with_unit(significant(*condition.ms_per_sample), "ms");
  if (condition.ms_per_sample_without_store) {
    cell += fmt::format("<span class=\"sub\">{} ms without<br>building the store</span>",
                        significant(*condition.ms_per_sample_without_store));
  }
  return cell;
}

std::string memory_cell(const std::optional<std::int64_t>& bytes,
                        std::string_view why_not,
                        Notes& notes) {
  return bytes ? bytes_text(*bytes) : unmeasured() + notes.mark(std::string(why_not));
}

std::string success_cell(const std::optional<SuccessCount>& success, Notes& notes) {
  if (!success) {
    return unmeasured() + notes.mark("Success unmeasured: the policy was not rolled out");
  }
  const eval::Interval interval = interval_of(*success);
  return fmt::format("{}<span class=\"sub\">{}\u2013{} %</span>",
                     count_text(*success),
                     percent(interval.low),
                     percent(interval.high));
}

std::string condition_row(const ReportData& data, const ConditionResult& condition, Notes& notes) {
  std::string row = fmt::format("<tr><th scope=\"row\">{}<span class=\"sub\">{}</span></th>",
                                escape(condition.name),
                                escape(describe_condition(condition)));
  if (!condition.not_run.empty()) {
    return row + fmt::format("<td colspan=\"7\" class=\"unmeasured\">not run: {}</td></tr>\n",
                             escape(condition.not_run));
  }
  const std::optional<double> ratio = time_ratio(condition, data.conditions.front());
  row += number_cell("time a sample", time_cell(condition, notes));
  row += number_cell("against the baseline",
                     ratio ? fmt::format("{:.2f} \u00d7", *ratio) : unmeasured());
  row +=
      number_cell("samples a second",
                  condition.samples_per_s ? significant(*condition.samples_per_s) : unmeasured());
  row +=
      number_cell("energy a sample",
                  energy_cell(condition.j_per_sample, condition.j_per_sample_without_store, notes));
  row += number_cell("GPU memory, peak",
                     memory_cell(condition.peak_gpu_memory_bytes,
                                 "GPU memory unmeasured: no GPU was used or it was not asked",
                                 notes));
  row += number_cell("host memory, peak",
                     memory_cell(condition.peak_host_memory_bytes,
                                 "Host memory unmeasured: the peak of the process was not read",
                                 notes));
  row += number_cell("success, 95 %", success_cell(condition.success, notes));
  return row + "</tr>\n";
}

std::string facts_table(const Facts& facts) {
  std::string html = "<table class=\"facts\"><tbody>\n";
  for (const auto& [name, value] : facts) {
    html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n",
                        escape(name),
                        value.empty() ? unmeasured() : escape(value));
  }
  return html + "</tbody></table>\n";
}

double common_reach(const std::vector<PairResult>& pairs) {
  double reach = 0.05;
  for (const PairResult& pair : pairs) {
    reach = std::max(
        {reach, std::abs(pair.comparison.interval.low), std::abs(pair.comparison.interval.high)});
  }
  return std::ceil(reach * 20) / 20;
}

}  // namespace

std::string condition_section(const ReportData& data) {
  Notes notes;
  std::string html = fmt::format(
      "<h2>Conditions</h2>\n<table class=\"stack\"><thead><tr><th scope=\"col\">Condition</th>"
      "<th scope=\"col\" class=\"num\">Time<br>a sample</th>"
      "<th scope=\"col\" class=\"num\">Against<br>{}</th>"
      "<th scope=\"col\" class=\"num\">Samples<br>a second</th>"
      "<th scope=\"col\" class=\"num\">Energy<br>a sample</th>"
      "<th scope=\"col\" class=\"num\">GPU<br>memory</th>"
      "<th scope=\"col\" class=\"num\">Host<br>memory</th>"
      "<th scope=\"col\" class=\"num\">Success<br>95 %</th></tr></thead><tbody>\n",
      escape(data.conditions.front().name));
  for (const ConditionResult& condition : data.conditions) {
    html += condition_row(data, condition, notes);
  }
  return html + "</tbody></table>\n" + notes.html();
}

std::string success_section(const ReportData& data) {
  std::string html =
      "<h2>Success in rollouts</h2>\n<p>Successful rollouts with Wilson's 95 % interval; dashed: "
      "the first condition. Grey: controls.</p>\n<figure>\n";
  html += success_figure(data) + "</figure>\n";
  if (data.controls.empty()) {
    return html + "<p class=\"unmeasured\">No control was rolled out.</p>\n";
  }
  html += "<ul class=\"notes\">";
  for (const ControlResult& control : data.controls) {
    html += fmt::format("<li><strong>{}</strong> ({}): {}</li>",
                        escape(control.name),
                        escape(control.condition),
                        escape(control.meaning));
  }
  return html + "</ul>\n";
}

std::string pair_section(const ReportData& data) {
  std::string html = "<h2>Paired differences</h2>\n";
  if (data.pairs.empty()) {
    return html +
           "<p class=\"unmeasured\">No two conditions were rolled out on the same seeds.</p>\n";
  }
  const double reach = common_reach(data.pairs);
  html += fmt::format(
      "<p>The same environment seeds under both policies. Difference: success of A minus success "
      "of "
      "B, in points, with Tango's 95 % interval; p: mid-p McNemar, two-sided. The pictures span "
      "\u00b1{:.0f} points.</p>\n",
      100 * reach);
  html +=
      "<table class=\"stack\"><thead><tr><th scope=\"col\">A and B</th>"
      "<th scope=\"col\" class=\"num\">Pairs</th><th scope=\"col\" class=\"num\">Only A</th>"
      "<th scope=\"col\" class=\"num\">Only B</th>"
      "<th scope=\"col\" class=\"num\">Difference<br>95 %</th><th scope=\"col\"></th>"
      "<th scope=\"col\" class=\"num\">p</th></tr></thead><tbody>\n";
  for (const PairResult& pair : data.pairs) {
    const eval::PairedComparison& comparison = pair.comparison;
    html += fmt::format(
        "<tr><th scope=\"row\">{} <span class=\"unit\">and</span> {}<span "
        "class=\"sub\">{}</span></th>",
        escape(pair.a),
        escape(pair.b),
        escape(eval::describe(comparison, pair.a, pair.b)));
    html += number_cell("pairs", std::to_string(comparison.counts.pairs));
    html += number_cell("only A succeeds", std::to_string(comparison.counts.a_only));
    html += number_cell("only B succeeds", std::to_string(comparison.counts.b_only));
    html += number_cell("difference",
                        fmt::format("{}<span class=\"sub\">{} to {}</span>",
                                    signed_percent(comparison.difference),
                                    signed_percent(comparison.interval.low),
                                    signed_percent(comparison.interval.high)));
    html += fmt::format("<td class=\"difference\">{}</td>", difference_figure(comparison, reach));
    html += number_cell("p", fmt::format("{:.3f}", comparison.p)) + "</tr>\n";
  }
  return html + "</tbody></table>\n";
}

std::string parity_section(const ReportData& data) {
  std::string html = "<h2>Parity of the encoder</h2>\n";
  if (data.parity.empty()) {
    return html + "<p class=\"unmeasured\">No boundary tensor was compared.</p>\n";
  }
  html +=
      "<p>Every boundary tensor of the artefact against the fp32 encoder on held-out frames. A "
      "tensor outside its gate is refused.</p>\n"
      "<table><thead><tr><th scope=\"col\">Tensor</th><th scope=\"col\" class=\"num\">Cosine</th>"
      "<th scope=\"col\" class=\"num\">Relative error</th>"
      "<th scope=\"col\" class=\"num\">Gate</th></tr></thead><tbody>\n";
  for (const ParityRow& row : data.parity) {
    html += fmt::format("<tr><th scope=\"row\">{}<span class=\"sub\">{}</span></th>",
                        escape(row.tensor),
                        escape(row.boundary));
    html += fmt::format("<td class=\"num\">{:.5f}<span class=\"sub\">\u2265 {:.4g}</span></td>",
                        row.cosine,
                        row.min_cosine);
    html += number_cell("relative error", significant(row.relative_error));
    html += fmt::format("<td class=\"num\">{}</td></tr>\n",
                        row.has_passed() ? "<span class=\"good\">passed</span>"
                                         : "<span class=\"bad\">refused</span>");
  }
  return html + "</tbody></table>\n";
}

std::string meter_section(const ReportData& data) {
  std::string html =
      "<h2>What was measured</h2>\n<p>Joules come from counters, read at both ends of a window of "
      "at "
      "least 5 s or 50 updates. What cannot be read is unmeasured: never zero, and never part of a "
      "sum.</p>\n";
  if (data.meters.empty()) {
    return html + "<p class=\"unmeasured\">No energy meter was looked for.</p>\n";
  }
  html +=
      "<table class=\"stack\"><thead><tr><th scope=\"col\">Domain</th><th scope=\"col\">Kind</th>"
      "<th scope=\"col\">Covers, or why it is unmeasured</th></tr></thead><tbody>\n";
  for (const power::Domain& meter : data.meters) {
    const bool is_unmeasured = meter.kind == power::Kind::kUnmeasured;
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td{}>{}</td><td>{}{}</td></tr>\n",
        escape(meter.name),
        is_unmeasured ? " class=\"unmeasured\"" : "",
        power::to_string(meter.kind),
        escape(meter.scope),
        meter.reason.empty() ? std::string() : fmt::format("; {}", escape(meter.reason)));
  }
  return html + "</tbody></table>\n";
}

std::string set_up_section(const ReportData& data) {
  std::string html;
  const auto table = [&html](const char* heading, const Facts& facts) {
    if (!facts.empty()) {
      html += fmt::format("<h2>{}</h2>\n{}", heading, facts_table(facts));
    }
  };
  table("The job", data.workload);
  table("Hardware", data.hardware);
  table("Software", data.software);
  if (!data.remarks.empty()) {
    html += "<h2>Limits</h2>\n<ul>";
    for (const std::string& remark : data.remarks) {
      html += fmt::format("<li>{}</li>", escape(remark));
    }
    html += "</ul>\n";
  }
  if (!data.command.empty()) {
    html += fmt::format("<h2>How to reproduce</h2>\n<pre><code>{}</code></pre>\n",
                        escape(data.command));
  }
  return html;
}

}  // namespace frostline::study
