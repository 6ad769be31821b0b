#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frostline/core/json.h"
#include "frostline/eval/statistics.h"
#include "frostline/pipeline/feature_source.h"
#include "frostline/power/meter.h"
#include "frostline/train/run_log.h"

namespace frostline::study {

/// Energy of one domain in one condition. Units: J a sample; empty = unmeasured, see `reason`.
struct EnergyPart {
  std::string domain;
  std::optional<double> value;
  power::Kind kind = power::Kind::kUnmeasured;
  std::string reason;
};

/// Energy of every device that did the work of a condition.
struct EnergyFigure {
  std::optional<double> value;
  power::Kind kind = power::Kind::kUnmeasured;
  std::string reason;
  std::vector<EnergyPart> domains;
};

/// Divides the energy of a window by its samples; `required` names the domains that did the work
/// (see `power::WindowEnergy::total`) and are listed, all of them when empty.
/// Errors: `kUsage` without samples.
EnergyFigure energy_per_sample(const power::WindowEnergy& energy,
                               std::int64_t num_samples,
                               std::span<const std::string> required = {});

/// Successful rollouts of those that count; the interval is Wilson's at 95 %.
struct SuccessCount {
  std::int64_t k = 0;
  std::int64_t n = 0;
};

using train::LossPoint;

/// One condition of a study. Empty values are unmeasured, never 0.
struct ConditionResult {
  std::string name;
  std::optional<std::string> boundary;  ///< `L0`..`L4`; empty for `gpu_only`.
  std::string source;
  std::string backend;
  std::string encoder_precision;
  std::string train_precision;
  std::int64_t steps = 0;
  std::optional<double> ms_per_sample;
  std::optional<double> samples_per_s;
  EnergyFigure j_per_sample;
  /// Beside the figures above, which are charged with building the feature store in full.
  std::optional<double> ms_per_sample_without_store;
  std::optional<double> j_per_sample_without_store;
  std::optional<std::int64_t> peak_gpu_memory_bytes;
  std::optional<std::int64_t> peak_host_memory_bytes;
  std::optional<SuccessCount> success;
  std::string not_run;  ///< Why a condition that belongs here was not run; empty when it was.
  std::vector<LossPoint> loss;
  std::vector<pipeline::Span> spans;
};

/// A paired comparison of two conditions by name.
struct PairResult {
  std::string a;
  std::string b;
  eval::PairedComparison comparison;
};

/// How far one boundary tensor of the artefact is from the fp32 graph.
struct ParityRow {
  std::string boundary;
  std::string tensor;
  double cosine = 0;
  double relative_error = 0;
  double min_cosine = 0;  ///< The gate.

  bool has_passed() const { return cosine >= min_cosine; }
};

/// A control: the same policy with something taken away or exchanged.
struct ControlResult {
  std::string name;       ///< `swapped_features`, `other_episode`, …
  std::string condition;  ///< The condition whose policy was rolled out.
  std::string meaning;    ///< What it shows, in a sentence.
  std::optional<SuccessCount> success;
};

using Facts = std::vector<std::pair<std::string, std::string>>;

/// Everything a report shows; `conditions[0]` is `gpu_only`, against which the others are set.
struct ReportData {
  std::string title = "Frostline report";
  std::string date;
  Facts workload;  ///< Data set, task, seeds, batch size, …
  std::vector<ConditionResult> conditions;
  std::vector<PairResult> pairs;
  std::vector<ParityRow> parity;
  std::vector<ControlResult> controls;
  std::vector<power::Domain> meters;
  Facts hardware;
  Facts software;
  std::string command;               ///< Reproduces the report.
  std::vector<std::string> remarks;  ///< What a reader must know to not read too much into it.
  std::string path;                  ///< Absolute path of the HTML file.
};

/// The document that `demo --json` and `study report --json` print; null = unmeasured.
Json to_json(const ReportData& data);

/// The report as one HTML page: inline style and figures, no script, nothing loaded from elsewhere.
/// Errors: `kUsage` without a condition.
std::string report_html(const ReportData& data);

/// Writes `report_html` atomically. Errors: `kUsage`, `kIo`.
void write_report_html(const ReportData& data, const std::filesystem::path& path);

/// The conditions and comparisons as aligned text, for a terminal at least 100 columns wide.
std::string table_text(const ReportData& data);

/// Prints `table_text`; with `--json` give it stderr.
void print_table(const ReportData& data, std::FILE* stream = stdout);

}  // namespace frostline::study
