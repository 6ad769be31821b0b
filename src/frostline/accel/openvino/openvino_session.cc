#include "frostline/accel/openvino/openvino_session.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "frostline/core/clock.h"

namespace frostline::accel {

namespace {

ov::element::Type element_type(DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return ov::element::u8;
    case DType::kI8:
      return ov::element::i8;
    case DType::kF32:
      return ov::element::f32;
    default:
      throw Error(ErrorCode::kUnsupported,
                  "element type is not supported at the encoder's edge",
                  fmt::format("dtype={}", to_string(dtype)));
  }
}

void check_port(const ov::Output<const ov::Node>& port, const TensorSpec& spec) {
  const ov::Shape& shape = port.get_shape();
  FROSTLINE_REQUIRE(
      port.get_element_type() == element_type(spec.dtype) &&
          std::ranges::equal(shape,
                             spec.shape,
                             [](std::size_t a, std::int64_t b) { return std::cmp_equal(a, b); }),
      ErrorCode::kDevice,
      "compiled encoder has another type than the artefact",
      fmt::format("tensor={} artefact={}{} compiled={}{}",
                  spec.name,
                  to_string(spec.dtype),
                  to_string(spec.shape),
                  port.get_element_type().get_type_name(),
                  shape.to_string()));
}

}  // namespace

OpenVinoSession::OpenVinoSession(ov::CompiledModel model,
                                 const Artefact& artefact,
                                 int num_slots,
                                 std::string identity)
    : model_(std::move(model)),
      input_(artefact.input),
      outputs_(artefact.outputs),
      identity_(std::move(identity)),
      slots_(static_cast<std::size_t>(num_slots)) {
  check_model();
  for (Request& slot : slots_) {
    slot.request = model_.create_infer_request();
    slot.request.set_callback(
        [this, &slot](const std::exception_ptr& failure) { on_completion(slot, failure); });
  }
}

OpenVinoSession::~OpenVinoSession() {
  // Completion callbacks refer to this object.
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] {
    return std::ranges::none_of(slots_,
                                [](const Request& slot) { return slot.state == State::kRunning; });
  });
  lock.unlock();
  for (Request& slot : slots_) {
    try {
      slot.request.wait();
    } catch (...) {  // NOLINT(bugprone-empty-catch): stored by the callback, nobody left to hear it
    }
  }
}

void OpenVinoSession::check_model() {
  FROSTLINE_REQUIRE(model_.inputs().size() == 1 && model_.outputs().size() == outputs_.size(),
                    ErrorCode::kDevice,
                    "compiled encoder has another number of ports",
                    fmt::format("inputs={} outputs={} expected outputs={}",
                                model_.inputs().size(),
                                model_.outputs().size(),
                                outputs_.size()));
  check_port(model_.input(), input_);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    check_port(model_.output(i), outputs_[i]);
  }
}

void OpenVinoSession::on_completion(Request& request, const std::exception_ptr& failure) {
  const std::int64_t now = Clock::steady().now_ns();
  // Notified under the lock: the destructor may run as soon as the state is seen.
  const std::lock_guard lock(mutex_);
  request.timing.end_ns = now;
  request.failure = failure;
  request.state = State::kDone;
  ++counters_.completed;
  counters_.busy_ns += now - request.timing.begin_ns;
  changed_.notify_all();
}

Slot OpenVinoSession::borrow() {
  std::unique_lock lock(mutex_);
  const auto is_free = [](const Request& slot) { return slot.state == State::kFree; };
  changed_.wait(lock, [&] { return std::ranges::any_of(slots_, is_free); });
  const auto found = std::ranges::find_if(slots_, is_free);
  found->state = State::kBorrowed;
  ov::Tensor tensor = found->request.get_input_tensor();
  return {static_cast<int>(found - slots_.begin()),
          {static_cast<std::byte*>(tensor.data()), tensor.get_byte_size()}};
}

Ticket OpenVinoSession::submit(const Slot& slot) {
  const auto index = static_cast<std::size_t>(slot.index);
  std::unique_lock lock(mutex_);
  FROSTLINE_REQUIRE(
      slot.index >= 0 && index < slots_.size() && slots_[index].state == State::kBorrowed,
      ErrorCode::kUsage,
      "slot was not borrowed",
      fmt::format("slot={} slots={}", slot.index, slots_.size()));
  Request& request = slots_[index];
  const Ticket ticket{next_ticket_++};
  request.ticket = ticket.id;
  request.failure = nullptr;
  request.state = State::kRunning;
  request.timing = {Clock::steady().now_ns(), 0};
  ++counters_.submitted;
  lock.unlock();
  try {
    request.request.start_async();
  } catch (const std::exception& e) {
    lock.lock();
    release(request);
    throw Error(ErrorCode::kDevice,
                "OpenVINO cannot start a request",
                fmt::format("slot={} ; {}", slot.index, e.what()));
  }
  return ticket;
}

OpenVinoSession::Request& OpenVinoSession::find(Ticket ticket) {
  const auto found = std::ranges::find_if(slots_, [&](const Request& slot) {
    return slot.ticket == ticket.id && !slot.is_awaited &&
           (slot.state == State::kRunning || slot.state == State::kDone);
  });
  FROSTLINE_REQUIRE(
      found != slots_.end(),
      ErrorCode::kUsage,
      "ticket is not in flight",
      fmt::format("ticket={} ; it was waited for, drained or never given", ticket.id));
  return *found;
}

void OpenVinoSession::release(Request& request) {
  request.state = State::kFree;
  request.is_awaited = false;
  request.failure = nullptr;
  changed_.notify_all();
}

RequestTiming OpenVinoSession::wait(Ticket ticket,
                                    std::span<const std::span<std::byte>> outputs,
                                    std::chrono::milliseconds deadline) {
  FROSTLINE_REQUIRE(outputs.size() == outputs_.size(),
                    ErrorCode::kUsage,
                    "one span per output is needed",
                    fmt::format("outputs={} spans={}", outputs_.size(), outputs.size()));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    FROSTLINE_REQUIRE(outputs[i].size() == outputs_[i].num_bytes(),
                      ErrorCode::kUsage,
                      "span has another size than its output",
                      fmt::format("output={} bytes={} span={}",
                                  outputs_[i].name,
                                  outputs_[i].num_bytes(),
                                  outputs[i].size()));
  }
  std::unique_lock lock(mutex_);
  Request& request = find(ticket);
  request.is_awaited = true;
  if (!changed_.wait_for(lock, deadline, [&] { return request.state == State::kDone; })) {
    request.is_awaited = false;
    throw Error(
        ErrorCode::kDevice,
        "request passed its deadline",
        fmt::format("ticket={} deadline_ms={} ; it is still in flight and may be waited for "
                    "again",
                    ticket.id,
                    deadline.count()));
  }
  const RequestTiming timing = request.timing;
  const std::exception_ptr failure = request.failure;
  lock.unlock();
  try {
    if (failure) {
      std::rethrow_exception(failure);
    }
    // The callback runs a moment before the request counts as finished.
    request.request.wait();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      std::memcpy(
          outputs[i].data(), request.request.get_output_tensor(i).data(), outputs[i].size());
    }
  } catch (const std::exception& e) {
    lock.lock();
    release(request);
    throw Error(ErrorCode::kDevice,
                "OpenVINO request failed",
                fmt::format("ticket={} ; {}", ticket.id, e.what()));
  }
  lock.lock();
  release(request);
  return timing;
}

void OpenVinoSession::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] {
    return std::ranges::none_of(slots_, [](const Request& slot) {
      return slot.state == State::kRunning || slot.is_awaited;
    });
  });
  for (Request& slot : slots_) {
    if (slot.state == State::kDone) {
      slot.request.wait();
      release(slot);
    }
  }
}

SessionCounters OpenVinoSession::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace frostline::accel
