#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frostline/pipeline/feature_source.h"

namespace frostline::train {

/// Sums the phases of a run and keeps the spans of a stretch of steps for the picture. One thread.
class Timeline {
 public:
  /// Keeps spans of `num_steps` steps from `first_step` on.
  explicit Timeline(std::int64_t first_step = 20, std::int64_t num_steps = 40)
      : first_step_(first_step), end_step_(first_step + num_steps) {}

  void add(const std::vector<pipeline::Span>& spans);

  std::vector<pipeline::Span> take() { return std::move(kept_); }

  /// Summed duration by `lane/phase`.
  const std::map<std::string, double>& phase_s() const { return phase_s_; }

 private:
  std::int64_t first_step_;
  std::int64_t end_step_;
  std::vector<pipeline::Span> kept_;
  std::map<std::string, double> phase_s_;
};

}  // namespace frostline::train
