#include "frostline/study/demo.h"

#include <algorithm>
#include <ctime>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "frostline/accel/artefact.h"
#include "frostline/core/error.h"
#include "frostline/core/log.h"
#include "frostline/core/progress.h"
#include "frostline/data/dataset.h"
#include "frostline/eval/outcome.h"
#include "frostline/eval/rollout.h"
#include "frostline/eval/statistics.h"
#include "frostline/policy/checkpoint.h"
#include "frostline/power/meter.h"
#include "frostline/quantise/parity.h"
#include "frostline/split/boundary.h"
#include "frostline/study/encoder_artefact.h"
#include "frostline/study/rollout_actor.h"
#include "frostline/study/versions.h"
#include "frostline/train/device.h"
#include "frostline/train/run_files.h"
#include "frostline/train/trainer.h"

namespace frostline::study {

namespace {

constexpr int kBoundary = 4;
constexpr std::int64_t kRolloutBatch = 15;

/// Domains whose devices compute the conditions: the processor, and the GPU where one trains.
std::vector<std::string> required_domains(const std::string& device) {
  std::vector<std::string> domains = {"cpu"};
  if (device.rfind("cuda", 0) == 0) {
    domains.emplace_back("gpu");
  }
  return domains;
}

std::string local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  return fmt::format("{:%Y-%m-%d %H:%M}", local);
}

/// One demo: what its parts share.
class Demo {
 public:
  explicit Demo(const DemoOptions& options)
      : options_(options), meters_(power::find_meters({options.declared_power})) {
    report_.title = "Frostline demo";
    report_.command = options.command;
    report_.path = (options.out / "report.html").string();
    seeds_.resize(static_cast<std::size_t>(options.num_rollouts));
    std::iota(seeds_.begin(), seeds_.end(), std::uint64_t{0});
  }

  ReportData operator()() {
    describe();
    make_encoder_artefact();
    train_condition("gpu_only", train::Source::kInline);
    train_condition("live_int8_L4", train::Source::kLive);
    train_condition("cached_int8_L4", train::Source::kCached);
    compare_experts();
    roll_out_conditions();
    write_json(options_.out / "report.json", to_json(report_));
    write_report_html(report_, options_.out / "report.html");
    return std::move(report_);
  }

 private:
  train::TrainOptions train_options(const std::string& name, train::Source source) const {
    train::TrainOptions train;
    train.loop.dataset = options_.dataset;
    train.loop.stride = options_.stride;
    train.loop.steps = options_.steps;
    train.loop.batch_size = options_.batch_size;
    train.loop.learning_rate = options_.learning_rate;
    train.loop.warmup_steps = std::min(options_.warmup_steps, options_.steps / 5);
    train.loop.ema_decay = 0.999;
    train.loop.seed = options_.seed;
    train.loop.save_every = options_.steps;
    train.loop.log_every = std::max<std::int64_t>(options_.steps / 50, 1);
    train.loop.num_threads = options_.num_threads;
    train.loop.device = options_.device;
    train.loop.train_precision = options_.train_precision;
    train.loop.out = options_.out / name;
    train.encoder = options_.encoder;
    train.source = source;
    train.boundary = kBoundary;
    train.backend = options_.backend;
    // Inside the run, so that the store is built, and charged, every time.
    train.cache_dir = options_.out / "cache";
    return train;
  }

  void describe() {
    const auto dataset = data::open_dataset(options_.dataset);
    const auto& info = dataset->info();
    const auto encoder = policy::read_encoder(options_.encoder);
    report_.date = local_time();
    report_.workload = {
        {"Task", options_.task},
        {"Data set",
         fmt::format("{} episodes, {} frames, {}x{} at {} Hz, {}",
                     info.num_episodes,
                     info.num_frames,
                     encoder.spec.image_height_px,
                     encoder.spec.image_width_px,
                     info.fps,
                     info.cameras.empty() ? "" : info.cameras[0].codec)},
        {"Data set fingerprint", dataset->fingerprint().short_hex()},
        {"Encoder fingerprint", encoder.fingerprint.short_hex()},
        {"Training",
         fmt::format(
             "{} steps of batch {}, seed {}", options_.steps, options_.batch_size, options_.seed)},
        {"Rollouts",
         fmt::format("environment seeds 0..{}, disjoint from those recorded",
                     options_.num_rollouts - 1)}};
    const Json machine = train::describe_machine();
    report_.hardware = {{"Processor", machine["cpu"].get<std::string>()},
                        {"Instruction set", machine["cpu_capability"].get<std::string>()},
                        {"Cores used", std::to_string(machine["cores"].get<int>())},
                        {"Trainer's device", options_.device}};
    report_.software = {{"Frostline", machine["frostline"].get<std::string>()}};
    // Named, for items() refers to the document that it is called on.
    const Json versions = library_versions();
    for (const auto& [name, version] : versions.items()) {
      report_.software.emplace_back(
          name, version.is_null() ? "not built in" : version.get<std::string>());
    }
    report_.meters = meters_.domains();
    if (options_.device == "cpu") {
      report_.remarks.emplace_back(
          "The trainer ran on the processor: 'gpu_only' names the baseline whose encoder runs "
          "inline "
          "on the trainer's own device, here the same cores that the INT8 encoder uses.");
    }
  }

  void make_encoder_artefact() {
    ArtefactRequest request;
    request.dataset = options_.dataset;
    request.encoder = options_.encoder;
    request.boundary = kBoundary;
    request.backend = options_.backend;
    request.batch_size = options_.batch_size;
    request.seed = options_.seed;
    request.num_threads = options_.num_threads;
    auto prepared = make_artefact(request);
    log_info("quantised the encoder in {:.1f} s ({} ranges)", prepared.duration_s, prepared.method);
    for (const auto& row : prepared.parity) {
      log_info("  {} {}: cosine {:.5f}, relative error {:.4f}",
               split::boundary_name(kBoundary),
               row.tensor,
               row.cosine,
               row.relative_error);
      report_.parity.push_back({split::boundary_name(kBoundary),
                                row.tensor,
                                row.cosine,
                                row.relative_error,
                                quantise::kGateCosine});
    }
    artefact_ = std::move(prepared.artefact);
    accel::save_artefact(options_.out / "encoder_artefact.safetensors", *artefact_);
  }

  void train_condition(const std::string& name, train::Source source) {
    log_info("training {}", name);
    const auto options = train_options(name, source);
    const bool is_inline = source == train::Source::kInline;
    auto result = train::train(options, artefact_, meters_);
    ConditionResult condition;
    condition.name = name;
    if (!is_inline) {
      condition.boundary = split::boundary_name(kBoundary);
    }
    condition.source = train::to_string(source);
    condition.backend = is_inline ? "torch:" + options_.device : options_.backend;
    condition.encoder_precision = is_inline ? options_.train_precision : artefact_->precision;
    condition.train_precision = options_.train_precision;
    condition.steps = result.steps;
    const auto samples = static_cast<double>(result.samples);
    const double total_s = result.loop_s + result.store_build_s;
    condition.ms_per_sample = 1e3 * total_s / samples;
    condition.samples_per_s = samples / total_s;
    if (source == train::Source::kCached) {
      condition.ms_per_sample_without_store = result.ms_per_sample();
    }
    const auto required = required_domains(options_.device);
    condition.j_per_sample = energy_per_sample(result.energy, result.samples, required);
    if (options_.device == "cpu") {
      condition.peak_host_memory_bytes = result.peak_memory_bytes;
    } else {
      condition.peak_gpu_memory_bytes = result.peak_memory_bytes;
    }
    condition.loss = std::move(result.curve);
    condition.spans = std::move(result.spans);
    checkpoints_.push_back(result.checkpoint);
    report_.conditions.push_back(std::move(condition));
  }

  /// Live and cached deliver the same codes, so the experts trained on them must be the same too.
  void compare_experts() {
    const auto live = policy::read_checkpoint(checkpoints_[1]).expert.fingerprint();
    const auto cached = policy::read_checkpoint(checkpoints_[2]).expert.fingerprint();
    report_.remarks.emplace_back(
        live == cached
            ? fmt::format("The experts trained on live and on cached features are bit-identical "
                          "(SHA-256 {}).",
                          live.short_hex())
            : fmt::format("The experts trained on live and on cached features differ (SHA-256 {} "
                          "and {}): the features or the arithmetic were not the same.",
                          live.short_hex(),
                          cached.short_hex()));
  }

  std::vector<eval::Outcome> roll_out(std::size_t index, bool has_artefact, eval::Control control) {
    RolloutFeatures features;
    features.backend = options_.backend;
    features.num_threads = options_.num_threads;
    if (has_artefact) {
      features.artefact = artefact_;
    }
    auto checkpoint =
        policy::read_checkpoint(checkpoints_[index], train::open_device(options_.device));
    eval::RolloutOptions rollout;
    rollout.labels.condition = report_.conditions[index].name;
    rollout.labels.features = features.precision();
    rollout.labels.checkpoint = checkpoint.expert.fingerprint().hex;
    rollout.labels.train_seed = static_cast<std::int64_t>(options_.seed);
    rollout.control = control;
    RolloutActor actor(
        std::move(checkpoint), features, std::min(kRolloutBatch, options_.num_rollouts));
    Progress progress("roll out " + rollout.labels.condition, options_.num_rollouts, "episodes");
    auto outcomes = eval::run_rollouts(options_.task,
                                       render_options(actor.spec()),
                                       seeds_,
                                       actor,
                                       rollout,
                                       [&](std::span<const eval::Outcome> done, std::int64_t) {
                                         progress.update(static_cast<std::int64_t>(done.size()));
                                       });
    all_outcomes_.insert(all_outcomes_.end(), outcomes.begin(), outcomes.end());
    return outcomes;
  }

  void roll_out_conditions() {
    std::vector<std::vector<eval::SeedOutcome>> counted;
    for (std::size_t i = 0; i < report_.conditions.size(); ++i) {
      auto& condition = report_.conditions[i];
      const bool has_artefact = condition.boundary.has_value();
      counted.push_back(eval::counted_outcomes(roll_out(i, has_artefact, eval::Control::kNone)));
      condition.success = count(counted.back());
    }
    for (std::size_t i = 1; i < counted.size(); ++i) {
      report_.pairs.push_back({report_.conditions[0].name,
                               report_.conditions[i].name,
                               eval::compare(eval::pair_outcomes(counted[0], counted[i]))});
    }
    add_control("image_shuffle",
                0,
                eval::Control::kImageShuffle,
                "The policy sees the image of another episode: what success is left does not come "
                "from looking.");
    add_control("swap_fp32",
                1,
                eval::Control::kNone,
                "The expert trained on INT8 features is given fp32 features: isolates quantisation "
                "at rollout from training.");
    eval::write_outcomes(options_.out / "eval" / "outcomes.parquet", all_outcomes_);
  }

  /// Controls run on fp32 features, whatever the condition was trained on.
  void add_control(const std::string& name,
                   std::size_t condition,
                   eval::Control control,
                   const std::string& meaning) {
    const auto outcomes = eval::counted_outcomes(roll_out(condition, false, control));
    report_.controls.push_back(
        {name, report_.conditions[condition].name, meaning, count(outcomes)});
  }

  static SuccessCount count(const std::vector<eval::SeedOutcome>& outcomes) {
    const auto k = std::count_if(
        outcomes.begin(), outcomes.end(), [](const auto& outcome) { return outcome.success; });
    return {k, static_cast<std::int64_t>(outcomes.size())};
  }

  const DemoOptions& options_;
  power::MeterSet meters_;
  ReportData report_;
  std::optional<accel::Artefact> artefact_;
  std::vector<std::filesystem::path> checkpoints_;
  std::vector<std::uint64_t> seeds_;
  std::vector<eval::Outcome> all_outcomes_;
};

}  // namespace

ReportData run_demo(const DemoOptions& options) {
  // Figures of one report come from one run, so nothing is taken over from an earlier one.
  FROSTLINE_REQUIRE(!std::filesystem::exists(options.out) || std::filesystem::is_empty(options.out),
                    ErrorCode::kUsage,
                    "the folder for the demo is not empty",
                    fmt::format("--out={} ; give a new folder", options.out.string()));
  return Demo(options)();
}

}  // namespace frostline::study
