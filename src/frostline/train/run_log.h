#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

#include "frostline/core/json.h"

namespace frostline::train {

/// One logged point of a training.
struct LossPoint {
  std::int64_t step = 0;
  double loss = 0;
};

/// Appends to `metrics.jsonl`, one JSON object a line. One thread.
class RunLog {
 public:
  /// Drops lines of steps after `first_step`, which a resumed run writes again.
  RunLog(const std::filesystem::path& run_folder, std::int64_t first_step);

  /// `record` holds `step` and `loss`. Flushed at once.
  void add(const Json& record);

  const std::vector<LossPoint>& curve() const { return curve_; }

 private:
  std::vector<LossPoint> curve_;
  std::ofstream file_;
};

}  // namespace frostline::train
