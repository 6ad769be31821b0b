#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "frostline/core/json.h"

namespace frostline::train {

/// Where features come from.
enum class Source { kInline, kLive, kCached };

std::string to_string(Source source);
/// Errors: `kUsage` naming the known sources; `kUnsupported` for `auto`.
Source source_from(const std::string& name);

/// What training and pretraining share. Figures that are zero or empty take the stated default.
struct LoopOptions {
  std::filesystem::path dataset;
  std::vector<std::int64_t> episodes;  ///< `episode_index` values; empty = all.
  std::int64_t stride = 2;             ///< Every how many frames one is an anchor.
  std::int64_t steps = 0;
  std::int64_t batch_size = 8;
  double learning_rate = 0;
  std::int64_t warmup_steps = 0;
  double weight_decay = 1e-4;
  double gradient_clip = 10;
  double ema_decay = 0;  ///< 0 = no average of weights.
  double dropout = 0.1;
  std::uint64_t seed = 0;
  std::int64_t save_every = 1000;
  std::int64_t log_every = 50;
  int num_threads = 0;              ///< 0 = all cores of this process.
  std::int64_t image_cache_mb = 0;  ///< 0 = a quarter of the machine's memory.
  std::string device = "cpu";       ///< `cpu`, `cuda`, `cuda:1`.
  std::string train_precision = "fp32";
  std::string loss_reduction = "valid";
  bool is_resume = false;
  bool allows_inexact = false;
  std::filesystem::path out;
};

/// One training of an action expert on a frozen encoder.
struct TrainOptions {
  LoopOptions loop;
  std::filesystem::path encoder;  ///< Encoder file or checkpoint.
  Source source = Source::kInline;
  int boundary = 4;
  std::string backend = "openvino:CPU";
  std::string encoder_precision = "int8";
  std::filesystem::path artefact;   ///< Empty = quantised into the run folder.
  std::filesystem::path cache_dir;  ///< Empty = `$XDG_CACHE_HOME/frostline`.
  std::string declared_power;       ///< Profile of declared watts; empty = none.
};

/// Training of a whole policy, the source of frozen encoders.
struct PretrainOptions {
  LoopOptions loop;
  std::string preset = "demo";
  std::int64_t statistics_batches = 60;  ///< Batches that batch norm's statistics are taken over.
};

/// What decides the outcome of a run; a resume with another value is refused.
Json outcome_config(const TrainOptions& options);
Json outcome_config(const PretrainOptions& options);

/// Errors: `kUsage` naming option, value and what is allowed.
void check(const LoopOptions& options);

}  // namespace frostline::train
