#include "frostline/pipeline/feature_source.h"

#include "frostline/core/error.h"

namespace frostline::pipeline {

void check_buffers(std::span<const TensorSpec> specs,
                   std::span<const std::span<std::byte>> buffers) {
  FROSTLINE_CHECK(buffers.size() == specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    FROSTLINE_CHECK(buffers[i].size() == specs[i].num_bytes());
  }
}

}  // namespace frostline::pipeline
