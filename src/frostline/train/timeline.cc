#include "frostline/train/timeline.h"

#include "frostline/core/clock.h"

namespace frostline::train {

void Timeline::add(const std::vector<pipeline::Span>& spans) {
  for (const auto& span : spans) {
    phase_s_[span.lane + "/" + span.phase] += seconds(span.end_ns - span.begin_ns);
    if (span.step >= first_step_ && span.step < end_step_) {
      kept_.push_back(span);
    }
  }
}

}  // namespace frostline::train
