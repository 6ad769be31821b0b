#include <algorithm>
#include <limits>
#include <map>

#include "frostline/core/file.h"
#include "frostline/study/report.h"
#include "frostline/study/report_format.h"

namespace frostline::study {

namespace {

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json success_json(const std::optional<SuccessCount>& success) {
  if (!success) {
    return nullptr;
  }
  const eval::Interval interval = interval_of(*success);
  return {{"k", success->k}, {"n", success->n}, {"low", interval.low}, {"high", interval.high}};
}

Json energy_json(const EnergyFigure& energy) {
  Json domains = Json::array();
  for (const EnergyPart& part : energy.domains) {
    domains.push_back({{"domain", part.domain},
                       {"value", value_or_null(part.value)},
                       {"kind", power::to_string(part.kind)},
                       {"reason", text_or_null(part.reason)}});
  }
  return {{"value", value_or_null(energy.value)},
          {"kind", power::to_string(energy.kind)},
          {"reason", text_or_null(energy.reason)},
          {"domains", std::move(domains)}};
}

Json condition_json(const ConditionResult& condition) {
  const auto& peak = condition.peak_gpu_memory_bytes ? condition.peak_gpu_memory_bytes
                                                     : condition.peak_host_memory_bytes;
  return {{"name", condition.name},
          {"boundary", value_or_null(condition.boundary)},
          {"source", condition.source},
          {"backend", condition.backend},
          {"encoder_precision", condition.encoder_precision},
          {"train_precision", condition.train_precision},
          {"steps", condition.steps},
          {"ms_per_sample", value_or_null(condition.ms_per_sample)},
          {"samples_per_s", value_or_null(condition.samples_per_s)},
          {"j_per_sample", energy_json(condition.j_per_sample)},
          {"ms_per_sample_without_store", value_or_null(condition.ms_per_sample_without_store)},
          {"j_per_sample_without_store", value_or_null(condition.j_per_sample_without_store)},
          {"peak_memory_bytes", value_or_null(peak)},
          {"peak_gpu_memory_bytes", value_or_null(condition.peak_gpu_memory_bytes)},
          {"peak_host_memory_bytes", value_or_null(condition.peak_host_memory_bytes)},
          {"success", success_json(condition.success)},
          {"not_run", text_or_null(condition.not_run)}};
}

Json pair_json(const PairResult& pair) {
  const eval::PairedComparison& comparison = pair.comparison;
  return {{"a", pair.a},
          {"b", pair.b},
          {"n", comparison.counts.pairs},
          {"a_only", comparison.counts.a_only},
          {"b_only", comparison.counts.b_only},
          {"difference", comparison.difference},
          {"low", comparison.interval.low},
          {"high", comparison.interval.high},
          {"p", comparison.p},
          {"margin", value_or_null(comparison.margin)},
          {"verdict", eval::to_string(comparison.verdict)}};
}

Json parity_json(const ParityRow& row) {
  return {{"boundary", row.boundary},
          {"tensor", row.tensor},
          {"cosine", row.cosine},
          {"relative_error", row.relative_error},
          {"min_cosine", row.min_cosine},
          {"passed", row.has_passed()}};
}

}  // namespace

Json to_json(const ReportData& data) {
  Json conditions = Json::array();
  for (const ConditionResult& condition : data.conditions) {
    conditions.push_back(condition_json(condition));
  }
  Json pairs = Json::array();
  for (const PairResult& pair : data.pairs) {
    pairs.push_back(pair_json(pair));
  }
  Json parity = Json::array();
  for (const ParityRow& row : data.parity) {
    parity.push_back(parity_json(row));
  }
  Json controls = Json::array();
  for (const ControlResult& control : data.controls) {
    controls.push_back({{"name", control.name},
                        {"condition", control.condition},
                        {"success", success_json(control.success)}});
  }
  return {{"conditions", std::move(conditions)},
          {"pairs", std::move(pairs)},
          {"parity", std::move(parity)},
          {"controls", std::move(controls)},
          {"report", text_or_null(data.path)}};
}

}  // namespace frostline::study
