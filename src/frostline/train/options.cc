#include "frostline/train/options.h"

#include <fmt/format.h>

#include "frostline/core/error.h"

namespace frostline::train {

namespace {

void require(bool is_fine, const char* option, const std::string& value, const char* rule) {
  FROSTLINE_REQUIRE(is_fine,
                    ErrorCode::kUsage,
                    "option out of range",
                    fmt::format("--{}={} ; {}", option, value, rule));
}

Json loop_config(const LoopOptions& loop) {
  return {{"dataset", std::filesystem::absolute(loop.dataset).string()},
          {"episodes", loop.episodes},
          {"stride", loop.stride},
          {"steps", loop.steps},
          {"batch_size", loop.batch_size},
          {"learning_rate", loop.learning_rate},
          {"warmup_steps", loop.warmup_steps},
          {"weight_decay", loop.weight_decay},
          {"gradient_clip", loop.gradient_clip},
          {"ema_decay", loop.ema_decay},
          {"dropout", loop.dropout},
          {"seed", loop.seed},
          {"device", loop.device},
          {"train_precision", loop.train_precision},
          {"loss_reduction", loop.loss_reduction}};
}

}  // namespace

std::string to_string(Source source) {
  switch (source) {
    case Source::kInline:
      return "inline";
    case Source::kLive:
      return "live";
    case Source::kCached:
      return "cached";
  }
  return "inline";
}

Source source_from(const std::string& name) {
  if (name == "inline") {
    return Source::kInline;
  }
  if (name == "live") {
    return Source::kLive;
  }
  if (name == "cached") {
    return Source::kCached;
  }
  FROSTLINE_REQUIRE(name != "auto",
                    ErrorCode::kUnsupported,
                    "this build has no planner",
                    "--source=auto ; choose inline, live or cached");
  throw Error(ErrorCode::kUsage,
              "unknown feature source",
              fmt::format("--source={} ; known: inline, live, cached", name));
}

void check(const LoopOptions& options) {
  require(options.steps > 0, "steps", fmt::to_string(options.steps), "at least 1");
  require(options.batch_size > 0, "batch-size", fmt::to_string(options.batch_size), "at least 1");
  require(options.stride > 0, "stride", fmt::to_string(options.stride), "at least 1");
  require(options.learning_rate > 0, "lr", fmt::to_string(options.learning_rate), "above 0");
  require(options.ema_decay >= 0 && options.ema_decay < 1,
          "ema-decay",
          fmt::to_string(options.ema_decay),
          "at least 0 and below 1");
  require(options.dropout >= 0 && options.dropout < 1,
          "dropout",
          fmt::to_string(options.dropout),
          "at least 0 and below 1");
  require(options.save_every > 0, "save-every", fmt::to_string(options.save_every), "at least 1");
  require(options.log_every > 0, "log-every", fmt::to_string(options.log_every), "at least 1");
  require(options.train_precision == "fp32" || options.train_precision == "bf16",
          "train-precision",
          options.train_precision,
          "fp32 or bf16");
  require(options.loss_reduction == "valid" || options.loss_reduction == "all",
          "loss-reduction",
          options.loss_reduction,
          "valid or all");
}

Json outcome_config(const TrainOptions& options) {
  Json config = loop_config(options.loop);
  config["encoder"] = std::filesystem::absolute(options.encoder).string();
  config["source"] = to_string(options.source);
  if (options.source != Source::kInline) {
    config["boundary"] = fmt::format("L{}", options.boundary);
    config["backend"] = options.backend;
    config["encoder_precision"] = options.encoder_precision;
  }
  return config;
}

Json outcome_config(const PretrainOptions& options) {
  Json config = loop_config(options.loop);
  config["preset"] = options.preset;
  config["statistics_batches"] = options.statistics_batches;
  return config;
}

}  // namespace frostline::train
