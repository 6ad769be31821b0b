#include "frostline/train/trainer.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "frostline/core/clock.h"
#include "frostline/core/error.h"
#include "frostline/core/log.h"
#include "frostline/core/progress.h"
#include "frostline/core/shutdown.h"
#include "frostline/data/library_versions.h"
#include "frostline/pipeline/cached_source.h"
#include "frostline/pipeline/core_budget.h"
#include "frostline/pipeline/inline_source.h"
#include "frostline/pipeline/live_source.h"
#include "frostline/pipeline/timeline_json.h"
#include "frostline/policy/ar_actor_expert.h"
#include "frostline/policy/checkpoint.h"
#include "frostline/policy/convert.h"
#include "frostline/split/torch/tail.h"
#include "frostline/train/device.h"
#include "frostline/train/inputs.h"
#include "frostline/train/optimiser.h"
#include "frostline/train/run_files.h"
#include "frostline/train/timeline.h"
#include "frostline/train/training_state.h"

namespace frostline::train {

namespace fs = std::filesystem;

namespace {

constexpr auto kFeatureDeadline = std::chrono::milliseconds(120'000);

policy::EncoderFile open_encoder(const TrainOptions& options, at::Device device) {
  auto file = policy::read_encoder(options.encoder, device);
  file.spec.dropout = options.loop.dropout;
  return file;
}

/// One run: everything that lives from the first step to the last.
class Run {
 public:
  Run(const TrainOptions& options,
      const std::optional<accel::Artefact>& artefact,
      power::MeterSet& meters)
      : options_(options),
        loop_(options.loop),
        device_(open_device(loop_.device)),
        budget_(pipeline::plan_cores(loop_.num_threads)),
        meters_(meters),
        encoder_file_(open_encoder(options, device_)),
        inputs_(loop_, encoder_file_.spec),
        encoder_(encoder_file_.spec, encoder_file_.parameters, scalar_type(loop_.train_precision)),
        parameters_(
            trainable(policy::expert_parameter_specs(encoder_file_.spec), device_, loop_.seed)),
        expert_(encoder_file_.spec, parameters_, scalar_type(loop_.train_precision)),
        optimiser_(parameters_, optimiser_options(loop_)),
        checkpoints_(loop_.out, budget_.encoder_alone) {
    at::set_num_threads(budget_.trainer);
    open_source(artefact);
  }

  TrainResult operator()() {
    const std::int64_t first = checkpoints_.begin(parameters_, optimiser_, config_, loop_);
    saved_step_ = first > 0 ? first : -1;
    RunLog log(loop_.out, first);
    result_.first_step = first;
    result_.steps = loop_.steps - first;
    result_.samples = result_.steps * loop_.batch_size;
    timeline_ = Timeline(first + std::min<std::int64_t>(20, result_.steps / 4));
    write_json(loop_.out / "run.json", result_.description);
    reset_peak_memory(device_);
    source_->start(first, result_.steps);
    const auto begin_ns = Clock::steady().now_ns();
    {
      Progress progress("train", loop_.steps, "steps");
      for (std::int64_t step = first; step < loop_.steps; ++step) {
        if (is_shutdown_requested()) {
          save(step);
          throw Error(ErrorCode::kInterrupted,
                      "training was stopped on request",
                      fmt::format("finished steps={} ; --resume continues", step));
        }
        train_step(step, log, progress);
        // The last one is saved after the clock was stopped.
        if (is_saved_after(step) && step + 1 < loop_.steps) {
          save(step + 1);
        }
      }
      synchronise(device_);
    }
    result_.loop_s = seconds(Clock::steady().now_ns() - begin_ns);
    result_.energy = window_.close();
    result_.peak_memory_bytes = peak_memory_bytes(device_);
    result_.peak_memory_scope = device_.is_cuda() ? "GPU allocator" : "process";
    save(loop_.steps);
    result_.checkpoint = checkpoints_.last().value_or(fs::path());
    result_.curve = log.curve();
    result_.final_loss = tail_mean(result_.curve);
    result_.spans = timeline_.take();
    result_.phase_s = timeline_.phase_s();
    write_json(loop_.out / "energy.json", energy_json(result_.energy, result_.samples));
    pipeline::write_timeline_json(loop_.out / "timeline.json", result_.spans);
    return std::move(result_);
  }

 private:
  void open_source(const std::optional<accel::Artefact>& artefact) {
    window_ = meters_.open();
    config_ = outcome_config(options_);
    result_.description = describe_run(config_, inputs_.dataset(), encoder_file_.fingerprint);
    config_["dataset_fingerprint"] = result_.description["dataset"];
    config_["encoder_fingerprint"] = result_.description["encoder"];
    const pipeline::BatchPlan plan = inputs_.plan();
    if (options_.source == Source::kInline) {
      tail_ = std::make_unique<split::FrozenTail>(encoder_, split::Coding{});
      source_ = std::make_unique<pipeline::InlineSource>(plan, budget_.decode, 2 * budget_.decode);
    } else {
      FROSTLINE_REQUIRE(artefact.has_value(),
                        ErrorCode::kUsage,
                        "no encoder artefact was given",
                        "sources live and cached need one");
      tail_ = std::make_unique<split::FrozenTail>(
          encoder_, split::Coding{artefact->scales, artefact->zero_points});
      const bool is_live = options_.source == Source::kLive;
      session_ = accel::open_session(options_.backend,
                                     *artefact,
                                     {2, is_live ? budget_.encoder_beside : budget_.encoder_alone});
      result_.description["artefact"] = artefact->fingerprint.hex;
      config_["artefact_fingerprint"] = artefact->fingerprint.hex;
      result_.description["runtime"] = session_->runtime_identity();
      if (is_live) {
        source_ = std::make_unique<pipeline::LiveSource>(
            plan, *session_, budget_.decode, kFeatureDeadline);
      } else {
        source_ = open_store(*artefact, plan);
        session_.reset();
      }
    }
    for (const auto& spec : source_->spec()) {
      buffers_.emplace_back(spec.dtype, spec.shape);
      views_.emplace_back(buffers_.back().bytes());
      host_.push_back(policy::borrow_as_torch(spec, buffers_.back().bytes()));
    }
  }

  std::unique_ptr<pipeline::FeatureSource> open_store(const accel::Artefact& artefact,
                                                      const pipeline::BatchPlan& plan) {
    const pipeline::FeatureKey key = {artefact.fingerprint,
                                      session_->runtime_identity(),
                                      inputs_.dataset().fingerprint(),
                                      "ffmpeg " + data::ffmpeg_version(),
                                      encoder_file_.spec.camera,
                                      loop_.stride,
                                      inputs_.episodes()};
    const fs::path cache = options_.cache_dir.empty() ? default_cache_folder() : options_.cache_dir;
    Progress progress("build feature store", plan.sampler->num_anchors(), "frames");
    const auto built = pipeline::build_feature_store(
        cache, key, plan, *session_, [&](std::int64_t done) { progress.update(done); });
    result_.store_build_s = built.duration_s;
    result_.description["store"] = {{"folder", built.folder.string()},
                                    {"was_present", built.was_present},
                                    {"build_s", built.duration_s}};
    return std::make_unique<pipeline::CachedSource>(
        pipeline::FeatureStore(built.folder, key.fingerprint()),
        inputs_.sampler(),
        loop_.batch_size);
  }

  void train_step(std::int64_t step, RunLog& log, Progress& progress) {
    const auto t0 = Clock::steady().now_ns();
    result_.stall_s += seconds(source_->next(views_));
    const auto t1 = Clock::steady().now_ns();
    std::vector<at::Tensor> inputs;
    inputs.reserve(host_.size());
    for (const auto& tensor : host_) {
      inputs.push_back(device_.is_cpu() ? tensor : tensor.to(device_, true));
    }
    const policy::ExpertBatch batch = inputs_.batch(step, device_);
    const policy::Prefix prefix = encode(inputs);
    const auto t2 = Clock::steady().now_ns();
    policy::Dropout dropout = step_dropout(device_, loop_.dropout, loop_.seed, step);
    const policy::ExpertLoss loss =
        expert_.loss(prefix, batch, policy::loss_reduction_from(loop_.loss_reduction), dropout);
    const auto t3 = Clock::steady().now_ns();
    loss.total.backward();
    const auto t4 = Clock::steady().now_ns();
    const at::Tensor norm = optimiser_.step(step);
    const auto t5 = Clock::steady().now_ns();
    const bool is_inline = options_.source == Source::kInline;
    timeline_.add(source_->take_spans());
    timeline_.add({{"trainer", "stall", step, t0, t1},
                   {"trainer", is_inline ? "encode" : "tail", step, t1, t2},
                   {"trainer", "forward", step, t2, t3},
                   {"trainer", "backward", step, t3, t4},
                   {"trainer", "optimiser", step, t4, t5}});
    // Reading the loss waits for a GPU, so it is read rarely there.
    const bool is_logged = (step + 1) % loop_.log_every == 0 || step + 1 == loop_.steps;
    if (is_logged || is_saved_after(step) || device_.is_cpu()) {
      const double value = loss.total.item<double>();
      require_finite(value, step, inputs_);
      if (is_logged) {
        log.add({{"step", step + 1},
                 {"loss", value},
                 {"loss_ar", loss.autoregressive.item<double>()},
                 {"loss_fast", loss.parallel.item<double>()},
                 {"gradient_norm", norm.item<double>()},
                 {"learning_rate", learning_rate_at(optimiser_options(loop_), step)}});
        progress.update(step + 1, fmt::format("loss {:.4f}", value));
        return;
      }
    }
    progress.update(step + 1);
  }

  /// The frozen computation of this device; a whole encoder may use all cores in its turn.
  policy::Prefix encode(const std::vector<at::Tensor>& inputs) const {
    if (options_.source != Source::kInline) {
      return (*tail_)(inputs);
    }
    at::set_num_threads(budget_.encoder_alone);
    policy::Prefix prefix = (*tail_)(inputs);
    at::set_num_threads(budget_.trainer);
    return prefix;
  }

  bool is_saved_after(std::int64_t step) const { return (step + 1) % loop_.save_every == 0; }

  /// The checkpoint in force is never written again: replacing it would leave a moment without one.
  void save(std::int64_t step) {
    if (step == saved_step_) {
      return;
    }
    policy::ParameterSet averaged = parameters_.clone();
    {
      const at::NoGradGuard no_grad;
      averaged.values().copy_(optimiser_.averaged());
    }
    checkpoints_.save(step, parameters_, optimiser_, config_, [&](const fs::path& folder) {
      policy::write_checkpoint(folder,
                               {encoder_file_.spec,
                                encoder_file_.parameters,
                                averaged,
                                inputs_.state(),
                                inputs_.action(),
                                config_});
    });
    saved_step_ = step;
  }

  static double tail_mean(const std::vector<LossPoint>& curve) {
    const std::size_t count = std::max<std::size_t>(curve.size() / 10, 1);
    double sum = 0;
    for (std::size_t i = curve.size() - count; i < curve.size(); ++i) {
      sum += curve[i].loss;
    }
    return sum / static_cast<double>(count);
  }

  const TrainOptions& options_;
  const LoopOptions& loop_;
  at::Device device_;
  pipeline::CoreBudget budget_;
  power::MeterSet& meters_;
  policy::EncoderFile encoder_file_;
  Inputs inputs_;
  policy::ArActorEncoder encoder_;
  policy::ParameterSet parameters_;
  policy::ArActorExpert expert_;
  Optimiser optimiser_;
  CheckpointFolder checkpoints_;
  std::unique_ptr<split::FrozenTail> tail_;
  std::unique_ptr<accel::EncoderSession> session_;
  std::unique_ptr<pipeline::FeatureSource> source_;
  std::vector<HostTensor> buffers_;
  std::vector<std::span<std::byte>> views_;
  std::vector<at::Tensor> host_;
  power::MeterSet::Window window_;
  Timeline timeline_;
  Json config_;  ///< What a resume must agree with.
  std::int64_t saved_step_ = -1;
  TrainResult result_;
};

}  // namespace

double TrainResult::ms_per_sample() const {
  return samples > 0 ? 1e3 * loop_s / static_cast<double>(samples) : 0;
}

double TrainResult::samples_per_s() const {
  return loop_s > 0 ? static_cast<double>(samples) / loop_s : 0;
}

TrainResult train(const TrainOptions& options,
                  const std::optional<accel::Artefact>& artefact,
                  power::MeterSet& meters) {
  check(options.loop);
  return Run(options, artefact, meters)();
}

}  // namespace frostline::train
