#include "tests/study/sample_report.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace frostline::test {

namespace {

using study::ConditionResult;
using Spans = std::vector<pipeline::Span>;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kStart = 5'000'000'000'000;

std::int64_t jitter(std::int64_t step) {
  return (step * 7919 % 13 - 6) * kMs / 4;
}

struct PhaseTime {
  const char* phase;
  std::int64_t ms;
};

/// Appends phases one after another; returns the end.
std::int64_t append(Spans& spans,
                    const char* lane,
                    std::int64_t step,
                    std::int64_t begin_ns,
                    std::initializer_list<PhaseTime> phases) {
  for (const PhaseTime& entry : phases) {
    const std::int64_t end_ns = begin_ns + entry.ms * kMs + jitter(step);
    spans.push_back({lane, entry.phase, step, begin_ns, end_ns});
    begin_ns = end_ns;
  }
  return begin_ns;
}

Spans inline_spans() {
  Spans spans;
  std::int64_t decode = kStart;
  std::int64_t trainer = kStart;
  for (std::int64_t step = 0; step < 30; ++step) {
    decode = append(spans, "decode", step, std::max(decode, trainer - 150 * kMs), {{"decode", 48}});
    if (decode > trainer) {
      spans.push_back({"trainer", "stall", step, trainer, decode});
    }
    trainer = append(spans,
                     "trainer",
                     step,
                     std::max(trainer, decode),
                     {{"encode", 92}, {"forward", 31}, {"backward", 58}, {"optimiser", 9}});
  }
  return spans;
}

Spans live_spans() {
  Spans spans;
  std::int64_t decode = kStart;
  std::int64_t encoder = kStart;
  std::int64_t trainer = kStart;
  for (std::int64_t step = 0; step < 40; ++step) {
    decode = append(spans, "decode", step, std::max(decode, encoder - 60 * kMs), {{"decode", 48}});
    encoder = append(spans,
                     "encoder",
                     step,
                     std::max({encoder, decode, trainer - 90 * kMs}),
                     {{"preprocess", 7}, {"encode", 104}, {"transfer", 4}});
    if (encoder > trainer) {
      spans.push_back({"trainer", "stall", step, trainer, encoder});
    }
    trainer = append(spans,
                     "trainer",
                     step,
                     std::max(trainer, encoder),
                     {{"forward", 31}, {"backward", 58}, {"optimiser", 9}});
  }
  return spans;
}

Spans cached_spans() {
  Spans spans;
  std::int64_t load = kStart;
  std::int64_t trainer = kStart;
  for (std::int64_t step = 0; step < 60; ++step) {
    load = append(spans, "decode", step, std::max(load, trainer - 40 * kMs), {{"load", 8}});
    trainer = append(spans,
                     "trainer",
                     step,
                     std::max(trainer, load),
                     {{"forward", 31}, {"backward", 58}, {"optimiser", 9}});
  }
  return spans;
}

std::vector<study::LossPoint> loss_curve(double end, int salt) {
  std::vector<study::LossPoint> points;
  for (std::int64_t step = 0; step < 800; ++step) {
    const double fall = end + 1.9 * std::exp(-static_cast<double>(step) / 110.0);
    const double noise = 1 + 0.16 * std::sin(static_cast<double>(step * (31 + salt)) * 1.7);
    points.push_back({step, fall * noise});
  }
  return points;
}

ConditionResult condition(std::string name, double ms, study::SuccessCount success) {
  ConditionResult result;
  result.name = std::move(name);
  result.steps = 1200;
  result.train_precision = "fp32";
  result.ms_per_sample = ms;
  result.samples_per_s = 1000 / ms;
  result.peak_host_memory_bytes = 1'412'300'800;
  result.success = success;
  result.j_per_sample.reason = "cpu:package: permission denied: /sys/class/powercap/intel-rapl:0";
  result.j_per_sample.domains = {{"cpu:package-0",
                                  std::nullopt,
                                  power::Kind::kUnmeasured,
                                  "permission denied: /sys/class/powercap/intel-rapl:0"}};
  return result;
}

void add_conditions(study::ReportData& data) {
  ConditionResult gpu_only = condition("gpu_only", 23.94, {23, 30});
  gpu_only.source = "inline";
  gpu_only.encoder_precision = "fp32";
  gpu_only.loss = loss_curve(0.112, 0);
  gpu_only.spans = inline_spans();
  gpu_only.j_per_sample = {
      0.9151, power::Kind::kMeasured, "", {{"gpu:0", 0.9151, power::Kind::kMeasured, ""}}};
  gpu_only.peak_gpu_memory_bytes = 5'905'580'032;

  ConditionResult live = condition("live_int8", 14.41, {22, 30});
  live.boundary = "L4";
  live.source = "live";
  live.backend = "openvino:CPU";
  live.encoder_precision = "int8";
  live.loss = loss_curve(0.118, 1);
  live.spans = live_spans();

  ConditionResult cached = condition("cached", 12.47, {22, 30});
  cached.boundary = "L4";
  cached.source = "cached";
  cached.backend = "openvino:CPU";
  cached.encoder_precision = "int8";
  cached.ms_per_sample_without_store = 12.31;
  cached.loss = loss_curve(0.118, 1);
  cached.spans = cached_spans();
  cached.j_per_sample = {
      0.7024,
      power::Kind::kDeclared,
      "npu:0 is declared",
      {{"gpu:0", 0.61, power::Kind::kMeasured, ""}, {"npu:0", 0.0924, power::Kind::kDeclared, ""}}};
  cached.j_per_sample_without_store = 0.688;

  ConditionResult end_to_end = condition("end_to_end", 1, {1, 1});
  end_to_end.success.reset();
  end_to_end.source = "inline";
  end_to_end.not_run = "the demo trains with a frozen encoder only";

  data.conditions = {
      std::move(gpu_only), std::move(live), std::move(cached), std::move(end_to_end)};
}

}  // namespace

study::ReportData sample_report() {
  study::ReportData data;
  data.title = "Training with the frozen encoder off the trainer";
  data.date = "1 March 2026, made-up figures";
  add_conditions(data);
  data.pairs = {{"gpu_only", "live_int8", eval::compare({30, 4, 3}, 0.2)},
                {"gpu_only", "cached", eval::compare({30, 5, 4})},
                {"live_int8", "cached", eval::compare({30, 1, 1})}};
  data.parity = {{"L0", "x_0", 0.99987, 0.0161, 0.995},
                 {"L1", "x_1", 0.99962, 0.0274, 0.995},
                 {"L2", "x_2", 0.99921, 0.0395, 0.995},
                 {"L3", "x_3", 0.99874, 0.0501, 0.995},
                 {"L4", "x_4", 0.99380, 0.1112, 0.995}};
  data.controls = {
      {"other_episode",
       "gpu_only",
       "image features of another episode; a policy that looks must fail here",
       study::SuccessCount{2, 30}},
      {"swapped_features",
       "live_int8",
       "the same expert on fp32 features (swap test)",
       study::SuccessCount{22, 30}},
      {"swapped_features", "cached", "the same expert on fp32 features (swap test)", {}}};
  data.meters = {
      {"gpu:0", "GPU board NVIDIA H200 (GPU-1)", 100 * kMs, power::Kind::kMeasured, ""},
      {"npu:0",
       "NPU board, 4.5 W idle and 22 W busy declared by the data sheet",
       0,
       power::Kind::kDeclared,
       ""},
      {"cpu:package-0",
       "CPU package-0",
       0,
       power::Kind::kUnmeasured,
       "permission denied: /sys/class/powercap/intel-rapl:0/energy_uj ; run as root, or allow it "
       "until the next start with 'sudo chmod a+r'"}};
  data.workload = {{"task", "aloha_transfer_cube"},
                   {"data set", "examples/demo/dataset, 40 episodes, 16 000 frames"},
                   {"batch size", "8"},
                   {"training seed", "0"},
                   {"rollout seeds", "0:30"}};
  data.hardware = {{"processor", "2 cores"}, {"accelerator", "none"}, {"memory", "8 GiB"}};
  data.software = {{"frostline", "0.1.0"}, {"OpenVINO", "2025.3"}, {"libtorch", "2.8"}};
  data.command = "scripts/demo.sh --seed 0 --out runs/demo";
  data.remarks = {"30 rollouts resolve differences of about 15 points, not smaller ones."};
  data.path = "/tmp/report.html";
  return data;
}

}  // namespace frostline::test
