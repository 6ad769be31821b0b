#include "frostline/study/demo.h"

#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "frostline/cli/verb.h"
#include "frostline/core/error.h"

namespace frostline::cli {

namespace {

namespace fs = std::filesystem;

struct Options {
  CommonOptions common;
  study::DemoOptions demo;
  bool is_quick = false;
  bool has_steps = false;
  bool has_rollouts = false;
};

/// `examples/demo` of the source tree, or beside the working folder.
fs::path examples_folder() {
  for (const fs::path& folder :
       {fs::path("examples/demo"), fs::path(FROSTLINE_SOURCE_FOLDER) / "examples/demo"}) {
    if (fs::exists(folder)) {
      return fs::absolute(folder);
    }
  }
  throw Error(ErrorCode::kIo,
              "the demo's data set and encoder are not here",
              "give --dataset and --encoder, or run from the project's folder");
}

void run(const Options& options) {
  study::DemoOptions demo = options.demo;
  if (options.is_quick && !options.has_steps) {
    demo.steps = 120;
  }
  if (options.is_quick && !options.has_rollouts) {
    demo.num_rollouts = 4;
  }
  if (demo.dataset.empty()) {
    demo.dataset = examples_folder() / "dataset";
  }
  if (demo.encoder.empty()) {
    demo.encoder = examples_folder() / "encoder.safetensors";
  }
  demo.seed = options.common.seed;
  demo.out = output_folder(options.common, "demo");
  demo.command = options.is_quick ? "frostline demo --quick" : "frostline demo";
  const auto report = study::run_demo(demo);
  if (options.common.is_json) {
    study::print_table(report, stderr);
    print_json(study::to_json(report));
    return;
  }
  study::print_table(report);
  fmt::print("\nreport: {}\n", report.path);
}

}  // namespace

void add_demo(CLI::App& root) {
  auto* verb = root.add_subcommand(
      "demo", "The main job, small: train inline, live and cached, roll out, report");
  auto options = std::make_shared<Options>();
  auto& demo = options->demo;
  add_common_options(*verb, options->common);
  verb->add_flag(
      "--quick", options->is_quick, "Few steps and rollouts: checks the pipeline, not success");
  verb->add_option("--dataset", demo.dataset, "Demonstrations; default: the shipped ones");
  verb->add_option("--encoder", demo.encoder, "Frozen encoder; default: the shipped one");
  verb->add_option("--task", demo.task, "Task of the rollouts")->capture_default_str();
  auto* steps =
      verb->add_option("--steps", demo.steps, "Optimiser steps a condition")->capture_default_str();
  verb->add_option("--batch-size", demo.batch_size, "Samples a step")->capture_default_str();
  auto* rollouts =
      verb->add_option("--rollouts", demo.num_rollouts, "Environment seeds a policy is judged on")
          ->capture_default_str();
  verb->add_option("--backend", demo.backend, "SDK:device of the offloaded encoder")
      ->capture_default_str();
  verb->add_option("--device", demo.device, "Trainer: cpu, cuda or cuda:N")->capture_default_str();
  verb->add_option("--train-precision", demo.train_precision, "fp32 or bf16")
      ->capture_default_str();
  verb->add_option("--threads", demo.num_threads, "Cores to use; 0 = all")->capture_default_str();
  verb->add_option("--declared-power",
                   demo.declared_power,
                   "TOML profile of watts for devices without a counter");
  verb->callback([options, steps, rollouts] {
    options->has_steps = steps->count() > 0;
    options->has_rollouts = rollouts->count() > 0;
    run(*options);
  });
}

}  // namespace frostline::cli
