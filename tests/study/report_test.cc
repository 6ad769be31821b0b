#include "frostline/study/report.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/core/file.h"
#include "frostline/study/report_figures.h"
#include "frostline/study/report_format.h"
#include "tests/study/sample_report.h"
#include "tests/support/temp_folder.h"

namespace frostline::study {
namespace {

using test::sample_report;
using ::testing::HasSubstr;
using ::testing::Not;

/// The first fault of the markup: a tag that is not closed, closed twice, or a bare `<` or `&`;
/// empty when there is none.
std::string markup_fault(const std::string& html) {
  static const std::set<std::string> kVoid = {"meta", "br", "!DOCTYPE"};
  std::vector<std::string> open;
  for (std::size_t at = 0; at < html.size(); ++at) {
    const bool is_style = !open.empty() && open.back() == "style";
    if (html[at] == '&' && !is_style) {
      const std::string entity = html.substr(at, html.find(';', at) - at + 1);
      if (entity.size() < 3 || entity.size() > 7 || entity.find(' ') != std::string::npos) {
        return "bare & before: " + html.substr(at, 20);
      }
    }
    if (html[at] != '<' || (is_style && html.compare(at, 8, "</style>") != 0)) {
      continue;
    }
    const std::size_t end = html.find('>', at);
    if (end == std::string::npos) {
      return "tag without end: " + html.substr(at, 20);
    }
    const bool is_closing = html[at + 1] == '/';
    const std::size_t begin = at + (is_closing ? 2 : 1);
    const std::string name = html.substr(begin, html.find_first_of(" >/\n", begin) - begin);
    if (name.empty()) {
      return "bare < before: " + html.substr(at, 20);
    }
    if (is_closing) {
      if (open.empty() || open.back() != name) {
        return "closes " + name + " inside " + (open.empty() ? "nothing" : open.back());
      }
      open.pop_back();
    } else if (html[end - 1] != '/' && !kVoid.contains(name)) {
      open.push_back(name);
    }
    at = end;
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

std::set<std::string> keys(const Json& object) {
  std::set<std::string> names;
  for (const auto& [key, value] : object.items()) {
    names.insert(key);
  }
  return names;
}

void expect_keys(const Json& object, const std::vector<std::string>& expected) {
  for (const std::string& key : expected) {
    EXPECT_TRUE(object.contains(key)) << key << " is missing in " << object.dump();
  }
}

TEST(ReportJson, HasTheDocumentedShape) {
  const Json json = to_json(sample_report());
  EXPECT_EQ(keys(json),
            (std::set<std::string>{"conditions", "pairs", "parity", "controls", "report"}));
  for (const Json& condition : json["conditions"]) {
    expect_keys(condition,
                {"name",
                 "boundary",
                 "source",
                 "backend",
                 "encoder_precision",
                 "train_precision",
                 "steps",
                 "ms_per_sample",
                 "samples_per_s",
                 "j_per_sample",
                 "peak_memory_bytes",
                 "success"});
    expect_keys(condition["j_per_sample"], {"value", "kind", "domains"});
  }
  expect_keys(json["conditions"][0]["success"], {"k", "n", "low", "high"});
  for (const Json& pair : json["pairs"]) {
    expect_keys(pair,
                {"a", "b", "n", "a_only", "b_only", "difference", "low", "high", "p", "verdict"});
  }
  for (const Json& row : json["parity"]) {
    expect_keys(row, {"boundary", "tensor", "cosine", "relative_error"});
  }
  for (const Json& control : json["controls"]) {
    expect_keys(control, {"name", "condition", "success"});
  }
  EXPECT_EQ(json["report"], "/tmp/report.html");
}

TEST(ReportJson, BaselineHasNoBoundaryAndUnmeasuredIsNull) {
  const Json json = to_json(sample_report());
  EXPECT_EQ(json["conditions"][0]["name"], "gpu_only");
  EXPECT_TRUE(json["conditions"][0]["boundary"].is_null());
  EXPECT_EQ(json["conditions"][1]["boundary"], "L4");
  const Json& energy = json["conditions"][1]["j_per_sample"];
  EXPECT_TRUE(energy["value"].is_null());
  EXPECT_EQ(energy["kind"], "unmeasured");
  EXPECT_THAT(energy["reason"].get<std::string>(), HasSubstr("permission denied"));
  EXPECT_TRUE(energy["domains"][0]["value"].is_null());
  EXPECT_TRUE(json["conditions"][3]["success"].is_null());
  EXPECT_TRUE(json["controls"][2]["success"].is_null());
}

TEST(ReportJson, PeakMemoryIsTheGpusWhereThereIsOne) {
  const Json json = to_json(sample_report());
  EXPECT_EQ(json["conditions"][0]["peak_memory_bytes"], 5'905'580'032);
  EXPECT_EQ(json["conditions"][1]["peak_memory_bytes"], 1'412'300'800);
  EXPECT_TRUE(json["conditions"][1]["peak_gpu_memory_bytes"].is_null());
}

TEST(ReportHtml, ClosesEveryTag) {
  EXPECT_EQ(markup_fault(report_html(sample_report())), "");
}

TEST(ReportHtml, CheckerFindsFaults) {
  EXPECT_NE(markup_fault("<p><b></p>"), "");
  EXPECT_NE(markup_fault("<p>"), "");
  EXPECT_NE(markup_fault("</p>"), "");
  EXPECT_NE(markup_fault("<p>a & b</p>"), "");
  EXPECT_NE(markup_fault("<p>a < b</p>"), "");
  EXPECT_EQ(markup_fault("<p>a &lt; b<br></p>"), "");
}

TEST(ReportHtml, LoadsNothingAndRunsNothing) {
  const std::string html = report_html(sample_report());
  for (const char* forbidden : {"http:",
                                "https:",
                                "src=",
                                "href=",
                                "@import",
                                "<script",
                                "<link",
                                "<iframe",
                                "url(//",
                                "onload"}) {
    EXPECT_THAT(html, Not(HasSubstr(forbidden)));
  }
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(html, HasSubstr("@media print"));
}

TEST(ReportHtml, UnmeasuredIsPrintedWithItsReason) {
  const std::string html = report_html(sample_report());
  EXPECT_THAT(html, HasSubstr("unmeasured</span><sup>"));
  EXPECT_THAT(html, HasSubstr("Energy unmeasured: cpu:package: permission denied"));
  EXPECT_THAT(html, HasSubstr("not run: the demo trains with a frozen encoder only"));
  EXPECT_THAT(html, HasSubstr("declared"));
}

TEST(ReportHtml, FailedGateAndVerdictsAreWritten) {
  const std::string html = report_html(sample_report());
  EXPECT_THAT(html, HasSubstr("refused</span>"));
  EXPECT_THAT(html, HasSubstr("no difference larger than"));
}

TEST(ReportHtml, NamesAreEscapedEverywhere) {
  ReportData data = sample_report();
  const std::string evil = "<b>&\"evil\"'>";
  data.title = data.date = data.command = evil;
  for (ConditionResult& condition : data.conditions) {
    condition.name = condition.source = condition.backend = condition.encoder_precision = evil;
    condition.j_per_sample.reason = evil;
    for (pipeline::Span& span : condition.spans) {
      span.phase = evil;
    }
  }
  data.conditions[3].not_run = evil;
  for (PairResult& pair : data.pairs) {
    pair.a = pair.b = evil;
  }
  for (ParityRow& row : data.parity) {
    row.boundary = row.tensor = evil;
  }
  for (ControlResult& control : data.controls) {
    control.name = control.condition = control.meaning = evil;
  }
  for (power::Domain& meter : data.meters) {
    meter.name = meter.scope = meter.reason = evil;
  }
  data.workload = data.hardware = data.software = {{evil, evil}};
  data.remarks = {evil};
  const std::string html = report_html(data);
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
  EXPECT_THAT(html, HasSubstr("&lt;b&gt;&amp;&quot;evil&quot;&#39;&gt;"));
}

TEST(ReportHtml, BareDataSaysWhatIsMissing) {
  ReportData data;
  data.conditions.resize(1);
  data.conditions[0].name = "gpu_only";
  const std::string html = report_html(data);
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_THAT(html, HasSubstr("no energy meter was read"));
  EXPECT_THAT(html, HasSubstr("Time a sample is unmeasured for gpu_only"));
  EXPECT_THAT(html, HasSubstr("not rolled out"));
  EXPECT_THAT(html, HasSubstr("No boundary tensor was compared"));
  EXPECT_THAT(html, HasSubstr("No phases were recorded"));
}

TEST(ReportHtml, RefusesToReportNothing) {
  try {
    report_html({});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUsage);
    EXPECT_THAT(e.what(), HasSubstr("a report needs a condition"));
  }
}

TEST(ReportHtml, EnergyOfDifferentKindsIsNeverCompared) {
  const ReportData data = sample_report();
  std::string why_not;
  EXPECT_FALSE(energy_ratio(data.conditions[2], data.conditions[0], why_not));
  EXPECT_EQ(why_not, "cached is declared, gpu_only is measured");
  EXPECT_FALSE(energy_ratio(data.conditions[1], data.conditions[0], why_not));
  EXPECT_THAT(why_not, HasSubstr("permission denied"));
  EXPECT_NEAR(*energy_ratio(data.conditions[0], data.conditions[0], why_not), 1, 1e-12);
}

TEST(ReportHtml, ConditionThatWasNotRunIsNeverTheFastest) {
  ReportData data = sample_report();
  data.conditions[3].ms_per_sample = 0.001;
  EXPECT_THAT(report_html(data), HasSubstr("<strong>cached</strong> is the fastest"));
}

TEST(ReportHtml, IsWrittenToAFile) {
  const test::TempFolder folder;
  write_report_html(sample_report(), folder.path() / "report.html");
  EXPECT_EQ(read_file(folder.path() / "report.html"), report_html(sample_report()));
}

TEST(ReportTable, AlignsColumnsAndExplainsWhatIsMissing) {
  const std::string text = table_text(sample_report());
  EXPECT_THAT(text, HasSubstr("condition   ms/sample"));
  EXPECT_THAT(text, HasSubstr("gpu_only         23.9  1.00x"));
  EXPECT_THAT(text, HasSubstr("0.702 (declared)"));
  EXPECT_THAT(text, HasSubstr("23/30 (59.1-88.2 %)"));
  EXPECT_THAT(text, HasSubstr("energy unmeasured: cpu:package: permission denied"));
  EXPECT_THAT(text, HasSubstr("end_to_end was not run: "));
  EXPECT_THAT(text, HasSubstr("no_difference_shown"));
}

TEST(EnergyPerSample, DividesAndKeepsKindAndReason) {
  power::WindowEnergy energy;
  energy.domains = {{{"gpu:0", "GPU board", 0, power::Kind::kMeasured, ""}, Joules(80)},
                    {{"npu:0", "NPU board", 0, power::Kind::kUnmeasured, "no driver"}, {}}};
  const EnergyFigure all = energy_per_sample(energy, 16);
  EXPECT_FALSE(all.value);
  EXPECT_EQ(all.reason, "npu:0: no driver");
  EXPECT_DOUBLE_EQ(*all.domains[0].value, 5);
  EXPECT_FALSE(all.domains[1].value);
  const EnergyFigure board = energy_per_sample(energy, 16, std::vector<std::string>{"gpu:0"});
  EXPECT_DOUBLE_EQ(*board.value, 5);
  EXPECT_EQ(board.kind, power::Kind::kMeasured);
  EXPECT_EQ(board.domains.size(), 1U);
  EXPECT_THROW(energy_per_sample(energy, 0), Error);
}

TEST(Timeline, WindowsShareTheirScaleAndLieInTheRecording) {
  const ReportData data = sample_report();
  const std::vector<TimelineWindow> windows = choose_windows(data.conditions);
  ASSERT_EQ(windows.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(windows[i].has_common_scale);
    EXPECT_EQ(windows[i].end_ns - windows[i].begin_ns, windows[0].end_ns - windows[0].begin_ns);
    EXPECT_GE(windows[i].begin_ns, data.conditions[i].spans.front().begin_ns);
  }
  EXPECT_EQ(windows[3].begin_ns, windows[3].end_ns);
}

TEST(Timeline, MuchFasterConditionGetsAScaleOfItsOwn) {
  std::vector<ConditionResult> conditions(2);
  for (std::int64_t step = 0; step < 50; ++step) {
    conditions[0].spans.push_back({"trainer", "train", step, step * 1000, step * 1000 + 1000});
    conditions[1].spans.push_back({"trainer", "train", step, step * 10, step * 10 + 10});
  }
  const std::vector<TimelineWindow> windows = choose_windows(conditions);
  EXPECT_EQ(windows[0].end_ns - windows[0].begin_ns, 3000);
  EXPECT_FALSE(windows[1].has_common_scale);
  EXPECT_EQ(windows[1].end_ns - windows[1].begin_ns, 70);
}

TEST(Timeline, StallShareIsOfTheTrainersTime) {
  EXPECT_FALSE(stall_share({}));
  EXPECT_FALSE(stall_share({{"encoder", "encode", 0, 0, 10}}));
  EXPECT_DOUBLE_EQ(
      *stall_share({{"trainer", "stall", 0, 100, 125}, {"trainer", "train", 0, 125, 200}}), 0.25);
}

TEST(Numbers, HaveSensibleDigits) {
  EXPECT_EQ(significant(23.94), "23.9");
  EXPECT_EQ(significant(0.91512), "0.915");
  EXPECT_EQ(significant(138.59), "139");
  EXPECT_EQ(significant(0), "0");
  EXPECT_EQ(significant(12345.6), "12\u202f346");
  EXPECT_EQ(significant(-2.5), "\u22122.50");
  EXPECT_EQ(significant(3e-9), "3.00e-09");
  EXPECT_EQ(percent(-0.0001), "0.0");
  EXPECT_EQ(signed_percent(0.0333), "+3.3");
  EXPECT_EQ(signed_percent(-0.0333), "\u22123.3");
  EXPECT_EQ(signed_percent(0.0001), "0.0");
  EXPECT_EQ(bytes_text(1'412'300'800), "1.32 GiB");
  EXPECT_EQ(bytes_text(1024 * 1024), "1.00 MiB");
}

}  // namespace
}  // namespace frostline::study
