#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "frostline/accel/artefact.h"
#include "frostline/cli/verb.h"
#include "frostline/core/error.h"
#include "frostline/core/progress.h"
#include "frostline/eval/outcome.h"
#include "frostline/eval/statistics.h"
#include "frostline/study/rollout_actor.h"
#include "frostline/train/device.h"

namespace frostline::cli {

namespace {

struct Options {
  CommonOptions common;
  std::filesystem::path checkpoint;
  std::filesystem::path artefact;
  std::string task = "aloha_transfer_cube";
  std::string seeds = "0:20";
  std::string backend = "openvino:CPU";
  std::string condition;
  std::string device = "cpu";
  bool shuffles_images = false;
  std::int64_t batch = 10;
};

/// `encoder_artefact.safetensors` of the run that the checkpoint belongs to, when it has one.
std::filesystem::path artefact_of_run(const std::filesystem::path& checkpoint) {
  for (auto folder = std::filesystem::absolute(checkpoint); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / "encoder_artefact.safetensors")) {
      return folder / "encoder_artefact.safetensors";
    }
    if (std::filesystem::exists(folder / "run.json")) {
      break;
    }
  }
  return {};
}

std::vector<std::uint64_t> seeds_of(const std::string& text) {
  const auto [begin, end] = parse_seed_range(text);
  std::vector<std::uint64_t> seeds(end - begin);
  std::iota(seeds.begin(), seeds.end(), begin);
  return seeds;
}

void run(const Options& options) {
  auto checkpoint = policy::read_checkpoint(options.checkpoint, train::open_device(options.device));
  study::RolloutFeatures features;
  features.backend = options.backend;
  const auto artefact =
      options.artefact.empty() ? artefact_of_run(options.checkpoint) : options.artefact;
  if (artefact != "none" && !artefact.empty()) {
    features.artefact = accel::load_artefact(artefact);
  }
  const auto seeds = seeds_of(options.seeds);
  eval::RolloutOptions rollout;
  rollout.labels.condition = options.condition;
  rollout.labels.features = features.precision();
  rollout.labels.checkpoint = checkpoint.expert.fingerprint().hex;
  rollout.labels.train_seed = static_cast<std::int64_t>(options.common.seed);
  rollout.control = options.shuffles_images ? eval::Control::kImageShuffle : eval::Control::kNone;
  study::RolloutActor actor(std::move(checkpoint), features, options.batch);
  std::vector<eval::Outcome> outcomes;
  {
    Progress progress("roll out", static_cast<std::int64_t>(seeds.size()), "episodes");
    outcomes = eval::run_rollouts(
        options.task,
        study::render_options(actor.spec()),
        seeds,
        actor,
        rollout,
        [&](std::span<const eval::Outcome> done, std::int64_t) {
          const auto k = std::count_if(
              done.begin(), done.end(), [](const auto& outcome) { return outcome.is_success(); });
          progress.update(static_cast<std::int64_t>(done.size()), fmt::format("{} succeeded", k));
        });
  }
  const auto path = output_folder(options.common, "eval") / "outcomes.parquet";
  eval::write_outcomes(path, outcomes);
  const auto counted = eval::counted_outcomes(outcomes);
  const auto n = static_cast<std::int64_t>(counted.size());
  const auto k = std::count_if(
      counted.begin(), counted.end(), [](const auto& outcome) { return outcome.success; });
  const auto interval = eval::wilson_interval(k, std::max<std::int64_t>(n, 1));
  if (options.common.is_json) {
    print_json({{"outcomes", path.string()},
                {"features", features.precision()},
                {"success", {{"k", k}, {"n", n}, {"low", interval.low}, {"high", interval.high}}},
                {"infrastructure_failures", static_cast<std::int64_t>(outcomes.size()) - n}});
    return;
  }
  fmt::print("success      {}/{} (95 % interval {:.1f}..{:.1f} %) with {} features\n",
             k,
             n,
             100 * interval.low,
             100 * interval.high,
             features.precision());
  fmt::print("faults       {} episodes not counted\noutcomes     {}\n",
             static_cast<std::int64_t>(outcomes.size()) - n,
             path.string());
}

}  // namespace

void add_eval(CLI::App& root) {
  auto* verb = root.add_subcommand("eval", "Rolls a checkpoint out over environment seeds");
  auto options = std::make_shared<Options>();
  add_common_options(*verb, options->common);
  verb->add_option("checkpoint", options->checkpoint, "Checkpoint or run folder")->required();
  verb->add_option("--task", options->task, "Task id")->capture_default_str();
  verb->add_option("--seeds", options->seeds, "Environment seeds A:B (half-open)")
      ->capture_default_str();
  verb->add_option("--artefact",
                   options->artefact,
                   "Quantised encoder; default: the run's own; none: the encoder in fp32");
  verb->add_option("--backend", options->backend, "SDK:device of the artefact")
      ->capture_default_str();
  verb->add_option("--device", options->device, "Policy: cpu, cuda or cuda:N")
      ->capture_default_str();
  verb->add_option("--condition", options->condition, "Label in outcomes.parquet");
  verb->add_option("--batch", options->batch, "Environments in lock step")->capture_default_str();
  verb->add_flag("--shuffle-images",
                 options->shuffles_images,
                 "Control: show each environment another one's image");
  verb->callback([options] { run(*options); });
}

}  // namespace frostline::cli
