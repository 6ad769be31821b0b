#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "frostline/study/report.h"

namespace frostline::study {

/// The main job, small: what `frostline demo` runs.
struct DemoOptions {
  std::filesystem::path dataset;
  std::filesystem::path encoder;
  std::filesystem::path out;
  std::string task = "aloha_transfer_cube";
  std::string backend = "openvino:CPU";
  std::string device = "cpu";
  std::string train_precision = "fp32";
  std::string declared_power;
  std::int64_t steps = 1200;
  std::int64_t batch_size = 8;
  std::int64_t stride = 4;         ///< Every how many frames one is a sample.
  std::int64_t num_rollouts = 30;  ///< Environment seeds 0..n-1.
  double learning_rate = 1e-3;
  std::int64_t warmup_steps = 200;
  std::uint64_t seed = 0;
  int num_threads = 0;
  std::string command;  ///< As the user gave it, for the report.
};

/// Quantises the encoder, trains the expert inline, live and cached, rolls the policies out on
/// paired seeds with two controls, and writes `report.html` and `report.json` into `options.out`.
/// Errors: those of every part; a failed part stops the demo.
ReportData run_demo(const DemoOptions& options);

}  // namespace frostline::study
