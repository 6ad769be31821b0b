#include "frostline/pipeline/inline_source.h"

#include <algorithm>

#include "frostline/core/clock.h"

namespace frostline::pipeline {

InlineSource::InlineSource(BatchPlan plan, int num_workers, int depth)
    : plan_(std::move(plan)),
      spec_{{"image", DType::kU8, {plan_.batch_size, plan_.height_px, plan_.width_px, 3}}},
      ring_(std::vector<std::vector<std::byte>>(static_cast<std::size_t>(depth),
                                                std::vector<std::byte>(spec_[0].num_bytes())),
            num_workers,
            [this](std::int64_t step, std::vector<std::byte>& entry) {
              const auto begin_ns = Clock::steady().now_ns();
              plan_.read_batch(step, entry);
              log_.add({"decode", "decode", step, begin_ns, Clock::steady().now_ns()});
            }) {}

void InlineSource::start(std::int64_t first_step, std::int64_t num_steps) {
  ring_.start(first_step, num_steps);
}

std::int64_t InlineSource::next(std::span<const std::span<std::byte>> buffers) {
  check_buffers(spec_, buffers);
  const auto asked_ns = Clock::steady().now_ns();
  std::int64_t stall_ns = 0;
  ring_.consume([&](std::int64_t, const std::vector<std::byte>& entry) {
    stall_ns = Clock::steady().now_ns() - asked_ns;
    std::copy(entry.begin(), entry.end(), buffers[0].begin());
  });
  return stall_ns;
}

}  // namespace frostline::pipeline
