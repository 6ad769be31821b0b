#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "frostline/pipeline/feature_source.h"

namespace frostline::pipeline {

/// Collects spans from several threads until someone takes them. Thread-safe.
class SpanLog {
 public:
  void add(Span span);
  std::vector<Span> take();

 private:
  std::mutex mutex_;
  std::vector<Span> spans_;
};

}  // namespace frostline::pipeline
