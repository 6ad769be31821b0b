#include "frostline/train/pretrain.h"

#include <memory>

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "frostline/core/clock.h"
#include "frostline/core/error.h"
#include "frostline/core/log.h"
#include "frostline/core/progress.h"
#include "frostline/core/safetensors.h"
#include "frostline/core/shutdown.h"
#include "frostline/pipeline/core_budget.h"
#include "frostline/pipeline/inline_source.h"
#include "frostline/policy/ar_actor_expert.h"
#include "frostline/policy/checkpoint.h"
#include "frostline/policy/convert.h"
#include "frostline/train/device.h"
#include "frostline/train/inputs.h"
#include "frostline/train/optimiser.h"
#include "frostline/train/run_files.h"
#include "frostline/train/training_state.h"

namespace frostline::train {

namespace {

policy::ArActorSpec spec_of(const PretrainOptions& options) {
  auto spec = policy::ar_actor_preset(options.preset);
  spec.dropout = options.loop.dropout;
  return spec;
}

/// One pretraining: everything that lives from the first step to the last.
class Run {
 public:
  explicit Run(const PretrainOptions& options)
      : options_(options),
        loop_(options.loop),
        device_(open_device(loop_.device)),
        spec_(spec_of(options)),
        budget_(pipeline::plan_cores(loop_.num_threads)),
        inputs_(loop_, spec_),
        parameters_(trainable(policy::pretrain_parameter_specs(spec_), device_, loop_.seed)),
        encoder_(spec_, parameters_, scalar_type(loop_.train_precision)),
        branch_(spec_, parameters_, scalar_type(loop_.train_precision)),
        optimiser_(parameters_, optimiser_options(loop_)),
        checkpoints_(loop_.out, budget_.encoder_alone),
        source_(inputs_.plan(), budget_.decode, 2 * budget_.decode),
        buffer_(source_.spec()[0].dtype, source_.spec()[0].shape),
        view_(buffer_.bytes()),
        image_(policy::borrow_as_torch(source_.spec()[0], buffer_.bytes())) {
    at::set_num_threads(budget_.encoder_alone);
  }

  PretrainResult operator()() {
    const std::int64_t first = checkpoints_.begin(parameters_, optimiser_, config(), loop_);
    saved_step_ = first > 0 ? first : -1;
    RunLog log(loop_.out, first);
    result_.description = describe_run(outcome_config(options_), inputs_.dataset(), {});
    write_json(loop_.out / "run.json", result_.description);
    source_.start(first, loop_.steps - first + options_.statistics_batches);
    const auto begin_ns = Clock::steady().now_ns();
    train(first, log);
    freeze_statistics();
    synchronise(device_);
    result_.duration_s = seconds(Clock::steady().now_ns() - begin_ns);
    result_.steps = loop_.steps - first;
    result_.curve = log.curve();
    result_.encoder = loop_.out / "encoder.safetensors";
    policy::ParameterSet encoder(policy::encoder_parameter_specs(spec_));
    encoder.load_subset(parameters_.to_host(), "pretrained parameters");
    result_.fingerprint = policy::write_encoder(result_.encoder, spec_, encoder, DType::kF16);
    result_.description["encoder"] = result_.fingerprint.hex;
    write_json(loop_.out / "run.json", result_.description);
    return std::move(result_);
  }

 private:
  at::Tensor next_image() {
    source_.next(std::span(&view_, 1));
    source_.take_spans();
    return device_.is_cpu() ? image_ : image_.to(device_, true);
  }

  void train(std::int64_t first, RunLog& log) {
    const auto reduction = policy::loss_reduction_from(loop_.loss_reduction);
    Progress progress("pretrain", loop_.steps, "steps");
    for (std::int64_t step = first; step < loop_.steps; ++step) {
      if (is_shutdown_requested()) {
        save(step);
        throw Error(ErrorCode::kInterrupted,
                    "pretraining was stopped on request",
                    fmt::format("finished steps={} ; --resume continues", step));
      }
      const at::Tensor image = next_image();
      const policy::ExpertBatch batch = inputs_.batch(step, device_);
      policy::Dropout dropout = step_dropout(device_, loop_.dropout, loop_.seed, step);
      const at::Tensor loss =
          policy::pretrain_loss(encoder_, branch_, image, batch, reduction, dropout);
      loss.backward();
      const at::Tensor norm = optimiser_.step(step);
      const bool is_logged = (step + 1) % loop_.log_every == 0 || step + 1 == loop_.steps;
      const bool is_saved = (step + 1) % loop_.save_every == 0;
      // Reading the loss waits for a GPU, so it is read rarely there.
      const bool is_read = is_logged || is_saved || device_.is_cpu();
      const double value = is_read ? loss.item<double>() : 0;
      require_finite(value, step, inputs_);
      if (is_logged) {
        log.add({{"step", step + 1},
                 {"loss", value},
                 {"gradient_norm", norm.item<double>()},
                 {"learning_rate", learning_rate_at(optimiser_options(loop_), step)}});
        progress.update(step + 1, fmt::format("loss {:.4f}", value));
      } else {
        progress.update(step + 1);
      }
      if (is_saved) {
        save(step + 1);
      }
    }
  }

  void freeze_statistics() {
    const at::NoGradGuard no_grad;
    parameters_.values().copy_(optimiser_.averaged());
    for (std::int64_t i = 0; i < options_.statistics_batches; ++i) {
      encoder_.accumulate_statistics(next_image(), i);
    }
  }

  /// What a resume must agree with.
  Json config() const {
    Json config = outcome_config(options_);
    config["dataset_fingerprint"] = inputs_.dataset().fingerprint().hex;
    return config;
  }

  /// The checkpoint in force is never written again: replacing it would leave a moment without one.
  void save(std::int64_t step) {
    if (step == saved_step_) {
      return;
    }
    checkpoints_.save(
        step, parameters_, optimiser_, config(), [&](const std::filesystem::path& folder) {
          std::filesystem::create_directories(folder);
          write_safetensors(folder / "model.safetensors", {parameters_.to_host(), {}});
        });
    saved_step_ = step;
  }

  const PretrainOptions& options_;
  const LoopOptions& loop_;
  at::Device device_;
  policy::ArActorSpec spec_;
  pipeline::CoreBudget budget_;
  Inputs inputs_;
  policy::ParameterSet parameters_;
  policy::TrainableEncoder encoder_;
  policy::ParallelBranch branch_;
  Optimiser optimiser_;
  CheckpointFolder checkpoints_;
  pipeline::InlineSource source_;
  HostTensor buffer_;
  std::span<std::byte> view_;
  at::Tensor image_;
  std::int64_t saved_step_ = -1;
  PretrainResult result_;
};

}  // namespace

PretrainResult pretrain(const PretrainOptions& options) {
  check(options.loop);
  return Run(options)();
}

}  // namespace frostline::train
