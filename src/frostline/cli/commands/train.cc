#include <memory>
#include <string>

#include <fmt/format.h>

#include "frostline/cli/loop_flags.h"
#include "frostline/cli/verb.h"
#include "frostline/core/error.h"
#include "frostline/power/meter.h"
#include "frostline/split/boundary.h"
#include "frostline/study/encoder_artefact.h"
#include "frostline/train/run_files.h"
#include "frostline/train/trainer.h"

namespace frostline::cli {

namespace {

constexpr int kNumLayers = 4;

struct Options {
  CommonOptions common;
  LoopFlags loop;
  train::TrainOptions train;
  std::string policy = "ar_actor";
  std::string source = "inline";
  std::string boundary = "L4";
};

Json to_json(const train::TrainResult& result) {
  return {{"checkpoint", result.checkpoint.string()},
          {"first_step", result.first_step},
          {"steps", result.steps},
          {"final_loss", result.final_loss},
          {"loop_s", result.loop_s},
          {"stall_s", result.stall_s},
          {"store_build_s", result.store_build_s},
          {"ms_per_sample", result.ms_per_sample()},
          {"samples_per_s", result.samples_per_s()},
          {"peak_memory_bytes", result.peak_memory_bytes},
          {"phase_s", result.phase_s},
          {"energy", train::energy_json(result.energy, result.samples)}};
}

void run(const Options& options) {
  FROSTLINE_REQUIRE(options.policy == "ar_actor",
                    ErrorCode::kUnsupported,
                    "this policy cannot be trained yet",
                    fmt::format("--policy={} ; known: ar_actor", options.policy));
  train::TrainOptions train = options.train;
  train.loop = finish_loop_flags(options.loop, options.common, "train");
  train.source = train::source_from(options.source);
  train.boundary = split::parse_boundary(options.boundary, kNumLayers);
  std::optional<accel::Artefact> artefact;
  if (train.source != train::Source::kInline) {
    artefact = study::artefact_for(train);
  }
  power::MeterSet meters = power::find_meters({train.declared_power});
  const auto result = train::train(train, artefact, meters);
  if (options.common.is_json) {
    print_json(to_json(result));
    return;
  }
  const auto total = result.energy.total();
  fmt::print(
      "checkpoint   {}\nsteps        {} in {:.1f} s, {:.3f} ms a sample, {:.1f} samples/s\n"
      "stall        {:.1f} s waiting for features\nloss         {:.4f}\nenergy       {}\n",
      result.checkpoint.string(),
      result.steps,
      result.loop_s,
      result.ms_per_sample(),
      result.samples_per_s(),
      result.stall_s,
      result.final_loss,
      total.energy ? fmt::format("{:.1f} J ({})", total.energy->value, to_string(total.kind))
                   : fmt::format("unmeasured: {}", total.reason));
}

}  // namespace

void add_train(CLI::App& root) {
  auto* verb = root.add_subcommand("train", "Trains an action expert on a frozen encoder");
  auto options = std::make_shared<Options>();
  auto& loop = options->loop.options;
  loop.steps = 4000;
  loop.learning_rate = 1e-4;
  loop.warmup_steps = 500;
  loop.ema_decay = 0.999;
  add_common_options(*verb, options->common);
  add_loop_flags(*verb, options->loop);
  auto& train = options->train;
  verb->add_option("--policy", options->policy, "ar_actor")->capture_default_str();
  verb->add_option("--encoder", train.encoder, "Encoder file or checkpoint")->required();
  verb->add_option("--source", options->source, "Features: inline (gpu_only), live or cached")
      ->capture_default_str();
  verb->add_option("--boundary", options->boundary, "Offloaded part of the encoder: L0..L4")
      ->capture_default_str();
  verb->add_option("--backend", train.backend, "SDK:device of the offloaded part")
      ->capture_default_str();
  verb->add_option("--encoder-precision", train.encoder_precision, "int8, bf16 or fp32")
      ->capture_default_str();
  verb->add_option(
      "--artefact", train.artefact, "Quantised encoder; default: quantised into the run folder");
  verb->add_option("--cache-dir", train.cache_dir, "Folder of feature stores");
  verb->add_option("--declared-power",
                   train.declared_power,
                   "TOML profile of watts for devices without a counter");
  verb->callback([options] { run(*options); });
}

}  // namespace frostline::cli
