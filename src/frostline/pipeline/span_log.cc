#include "frostline/pipeline/span_log.h"

namespace frostline::pipeline {

void SpanLog::add(Span span) {
  const std::lock_guard lock(mutex_);
  spans_.push_back(std::move(span));
}

std::vector<Span> SpanLog::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(spans_, {});
}

}  // namespace frostline::pipeline
