#include "frostline/pipeline/live_source.h"

#include <fmt/format.h>

#include "frostline/core/clock.h"

namespace frostline::pipeline {

LiveSource::LiveSource(BatchPlan plan,
                       accel::EncoderSession& session,
                       int num_workers,
                       std::chrono::milliseconds deadline)
    : plan_(std::move(plan)),
      session_(session),
      deadline_(deadline),
      ring_(std::vector<accel::Ticket>(static_cast<std::size_t>(session.num_slots())),
            num_workers,
            [this](std::int64_t step, accel::Ticket& ticket) { submit(step, ticket); }) {
  const Shape expected = {plan_.batch_size, plan_.height_px, plan_.width_px, 3};
  FROSTLINE_REQUIRE(
      session_.input().shape == expected,
      ErrorCode::kConfig,
      "the encoder takes other images than the data set gives",
      fmt::format("encoder={} batch of images={} ; quantise the encoder for this size",
                  to_string(session_.input().shape),
                  to_string(expected)));
}

void LiveSource::start(std::int64_t first_step, std::int64_t num_steps) {
  ring_.start(first_step, num_steps);
}

void LiveSource::submit(std::int64_t step, accel::Ticket& ticket) {
  const accel::Slot slot = session_.borrow();
  const auto begin_ns = Clock::steady().now_ns();
  plan_.read_batch(step, slot.input);
  log_.add({"decode", "decode", step, begin_ns, Clock::steady().now_ns()});
  ticket = session_.submit(slot);
}

std::int64_t LiveSource::next(std::span<const std::span<std::byte>> buffers) {
  check_buffers(spec(), buffers);
  const auto asked_ns = Clock::steady().now_ns();
  std::int64_t stall_ns = 0;
  ring_.consume([&](std::int64_t step, const accel::Ticket& ticket) {
    const accel::RequestTiming timing = session_.wait(ticket, buffers, deadline_);
    stall_ns = Clock::steady().now_ns() - asked_ns;
    log_.add({"encoder", "encode", step, timing.begin_ns, timing.end_ns});
  });
  return stall_ns;
}

}  // namespace frostline::pipeline
