#include "frostline/cli/loop_flags.h"

namespace frostline::cli {

void add_loop_flags(CLI::App& verb, LoopFlags& flags) {
  auto& options = flags.options;
  verb.add_option("--dataset", options.dataset, "Data set folder")->required();
  verb.add_option("--episodes", flags.episodes, "episode_index values: 0:40,45 (default all)");
  verb.add_option("--stride", options.stride, "Use every n-th frame as a sample")
      ->capture_default_str();
  verb.add_option("--steps", options.steps, "Optimiser steps")->capture_default_str();
  verb.add_option("--batch-size", options.batch_size, "Samples a step")->capture_default_str();
  verb.add_option("--lr", options.learning_rate, "Peak learning rate")->capture_default_str();
  verb.add_option("--warmup", options.warmup_steps, "Steps of linear warm-up")
      ->capture_default_str();
  verb.add_option("--weight-decay", options.weight_decay, "AdamW's decay")->capture_default_str();
  verb.add_option("--gradient-clip", options.gradient_clip, "Largest gradient norm")
      ->capture_default_str();
  verb.add_option("--ema-decay", options.ema_decay, "Average of weights; 0 = none")
      ->capture_default_str();
  verb.add_option("--dropout", options.dropout, "Dropout probability")->capture_default_str();
  verb.add_option("--loss-reduction",
                  options.loss_reduction,
                  "Mean over valid elements or over all (as published): valid, all")
      ->capture_default_str();
  verb.add_option("--train-precision", options.train_precision, "fp32 or bf16")
      ->capture_default_str();
  verb.add_option("--device", options.device, "cpu, cuda or cuda:N")->capture_default_str();
  verb.add_option("--threads", options.num_threads, "Cores to use; 0 = all")->capture_default_str();
  verb.add_option("--image-cache-mb",
                  options.image_cache_mb,
                  "Memory for decoded images; 0 = a quarter of the machine's")
      ->capture_default_str();
  verb.add_option("--save-every", options.save_every, "Steps between checkpoints")
      ->capture_default_str();
  verb.add_option("--log-every", options.log_every, "Steps between lines of metrics.jsonl")
      ->capture_default_str();
  verb.add_flag("--resume", options.is_resume, "Continue the run in --out");
  verb.add_flag(
      "--allow-inexact", options.allows_inexact, "Resume on another machine class or thread count");
}

train::LoopOptions finish_loop_flags(const LoopFlags& flags,
                                     const CommonOptions& common,
                                     const std::string& verb) {
  train::LoopOptions options = flags.options;
  if (!flags.episodes.empty()) {
    options.episodes = parse_index_list(flags.episodes);
  }
  options.seed = common.seed;
  options.out = output_folder(common, verb);
  return options;
}

}  // namespace frostline::cli
