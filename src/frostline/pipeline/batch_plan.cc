#include "frostline/pipeline/batch_plan.h"

#include "frostline/core/error.h"

namespace frostline::pipeline {

void BatchPlan::read_batch(std::int64_t step, std::span<std::byte> out) const {
  const std::size_t num_bytes = image_num_bytes();
  FROSTLINE_CHECK(out.size() == num_bytes * static_cast<std::size_t>(batch_size));
  std::span<std::uint8_t> pixels(reinterpret_cast<std::uint8_t*>(out.data()), out.size());
  for (const auto anchor : sampler->batch(step, batch_size)) {
    read_image(sampler->anchors()[static_cast<std::size_t>(anchor)], pixels.first(num_bytes));
    pixels = pixels.subspan(num_bytes);
  }
}

}  // namespace frostline::pipeline
