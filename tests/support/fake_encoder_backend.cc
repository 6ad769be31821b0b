#include "tests/support/fake_encoder_backend.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "frostline/core/clock.h"
#include "frostline/core/random.h"

namespace frostline::test {

namespace {

using accel::RequestTiming;
using accel::SessionCounters;
using accel::Slot;
using accel::Ticket;

std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = 1469598103934665603U;  // FNV-1a
  for (const std::byte byte : bytes) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1099511628211U;
  }
  return hash;
}

void fill_output(const TensorSpec& spec,
                 std::size_t output_index,
                 std::span<const std::byte> images,
                 std::span<std::byte> output) {
  const auto batch = static_cast<std::size_t>(spec.shape.front());
  const std::size_t image_bytes = images.size() / batch;
  const std::size_t item_bytes = output.size() / batch;
  for (std::size_t b = 0; b < batch; ++b) {
    Random random(hash_of(images.subspan(b * image_bytes, image_bytes)),
                  RandomStream::kControl,
                  output_index);
    const auto item = output.subspan(b * item_bytes, item_bytes);
    if (spec.dtype == DType::kF32) {
      for (std::size_t i = 0; i < item_bytes; i += sizeof(float)) {
        const float value = random.next_float() - 0.5F;
        std::memcpy(item.data() + i, &value, sizeof(value));
      }
    } else {
      std::ranges::generate(item, [&] { return static_cast<std::byte>(random.next_u32()); });
    }
  }
}

class FakeSession final : public accel::EncoderSession {
 public:
  FakeSession(const accel::Artefact& artefact, int num_slots, FakeOptions options)
      : artefact_(artefact), options_(options), slots_(static_cast<std::size_t>(num_slots)) {
    for (Request& slot : slots_) {
      slot.input.resize(artefact.input.num_bytes());
    }
    worker_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }

  const TensorSpec& input() const override { return artefact_.input; }

  const std::vector<TensorSpec>& outputs() const override { return artefact_.outputs; }

  int num_slots() const override { return static_cast<int>(slots_.size()); }

  std::string runtime_identity() const override {
    return "fake 1 device=CPU precision=" + artefact_.precision;
  }

  Slot borrow() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_lost_ || find_state(State::kFree) != nullptr; });
    require_device();
    Request* request = find_state(State::kFree);
    request->state = State::kBorrowed;
    return {static_cast<int>(request - slots_.data()), request->input};
  }

  Ticket submit(const Slot& slot) override {
    const std::lock_guard lock(mutex_);
    require_device();
    const auto index = static_cast<std::size_t>(slot.index);
    FROSTLINE_REQUIRE(index < slots_.size() && slots_[index].state == State::kBorrowed,
                      ErrorCode::kUsage,
                      "slot was not borrowed",
                      fmt::format("slot={}", slot.index));
    Request& request = slots_[index];
    request.state = State::kQueued;
    request.number = counters_.submitted++;
    request.timing = {Clock::steady().now_ns(), 0};
    if (request.number >= options_.lost_at) {
      is_lost_ = true;
    }
    changed_.notify_all();
    return {static_cast<std::uint64_t>(request.number) + 1};
  }

  RequestTiming wait(Ticket ticket,
                     std::span<const std::span<std::byte>> outputs,
                     std::chrono::milliseconds deadline) override {
    std::unique_lock lock(mutex_);
    Request& request = find(ticket);
    check_spans(outputs);
    const bool is_ready = changed_.wait_for(
        lock, deadline, [&] { return is_lost_ || request.state == State::kDone; });
    if (request.state != State::kDone) {
      require_device();
    }
    FROSTLINE_REQUIRE(is_ready,
                      ErrorCode::kDevice,
                      "request passed its deadline",
                      fmt::format("ticket={} deadline_ms={}", ticket.id, deadline.count()));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      fill_output(artefact_.outputs[i], i, request.input, outputs[i]);
      if (request.number >= options_.wrong_from) {
        std::ranges::transform(outputs[i], outputs[i].begin(), [](std::byte b) { return ~b; });
      }
    }
    request.state = State::kFree;
    changed_.notify_all();
    return request.timing;
  }

  void drain() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_lost_ || find_state(State::kQueued) == nullptr; });
    for (Request& slot : slots_) {
      if (slot.state == State::kDone || slot.state == State::kQueued) {
        slot.state = State::kFree;
      }
    }
    changed_.notify_all();
  }

  SessionCounters counters() const override {
    const std::lock_guard lock(mutex_);
    return counters_;
  }

 private:
  enum class State { kFree, kBorrowed, kQueued, kDone };

  struct Request {
    std::vector<std::byte> input;
    State state = State::kFree;
    std::int64_t number = -1;
    RequestTiming timing;
  };

  void require_device() const {
    FROSTLINE_REQUIRE(!is_lost_, ErrorCode::kDeviceLost, "device is gone", "device=fake:CPU");
  }

  Request* find_state(State state) {
    const auto found = std::ranges::find(slots_, state, &Request::state);
    return found == slots_.end() ? nullptr : &*found;
  }

  Request& find(Ticket ticket) {
    const auto found = std::ranges::find_if(slots_, [&](const Request& slot) {
      return static_cast<std::uint64_t>(slot.number) + 1 == ticket.id &&
             (slot.state == State::kQueued || slot.state == State::kDone);
    });
    FROSTLINE_REQUIRE(found != slots_.end(),
                      ErrorCode::kUsage,
                      "ticket is not in flight",
                      fmt::format("ticket={}", ticket.id));
    return *found;
  }

  void check_spans(std::span<const std::span<std::byte>> outputs) const {
    bool fits = outputs.size() == artefact_.outputs.size();
    for (std::size_t i = 0; fits && i < outputs.size(); ++i) {
      fits = outputs[i].size() == artefact_.outputs[i].num_bytes();
    }
    FROSTLINE_REQUIRE(fits,
                      ErrorCode::kUsage,
                      "span has another size than its output",
                      fmt::format("spans={}", outputs.size()));
  }

  Request* next_request() {
    Request* chosen = nullptr;
    for (Request& slot : slots_) {
      const bool is_waiting = slot.state == State::kQueued && slot.number != options_.hang_at;
      if (is_waiting &&
          (chosen == nullptr || (slot.number < chosen->number) != options_.is_newest_first)) {
        chosen = &slot;
      }
    }
    return chosen;
  }

  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return next_request() != nullptr; })) {
      // The latency comes first, so that a newest-first device has something to choose from.
      const auto until = std::chrono::steady_clock::now() + options_.latency;
      changed_.wait_until(lock, stop, until, [] { return false; });
      Request* request = next_request();
      if (stop.stop_requested() || is_lost_) {
        return;
      }
      if (request == nullptr) {
        continue;
      }
      request->timing.end_ns = Clock::steady().now_ns();
      request->state = State::kDone;
      ++counters_.completed;
      counters_.busy_ns += request->timing.end_ns - request->timing.begin_ns;
      changed_.notify_all();
    }
  }

  const accel::Artefact artefact_;
  const FakeOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Request> slots_;
  bool is_lost_ = false;
  SessionCounters counters_;
  std::jthread worker_;
};

}  // namespace

std::unique_ptr<accel::EncoderSession> FakeEncoderBackend::compile(
    const accel::Artefact& artefact,
    const std::string& device,
    const accel::CompileOptions& options) const {
  FROSTLINE_REQUIRE(device == "CPU",
                    ErrorCode::kUnsupported,
                    "device is not usable",
                    fmt::format("device=fake:{} ; usable: CPU", device));
  FROSTLINE_REQUIRE(options.num_slots > 0 && options.num_threads > 0,
                    ErrorCode::kUsage,
                    "slots and threads must be positive",
                    fmt::format("slots={} threads={}", options.num_slots, options.num_threads));
  return std::make_unique<FakeSession>(artefact, options.num_slots, options_);
}

std::vector<HostTensor> fake_outputs(const accel::Artefact& artefact,
                                     std::span<const std::byte> images) {
  std::vector<HostTensor> outputs;
  for (std::size_t i = 0; i < artefact.outputs.size(); ++i) {
    HostTensor& output = outputs.emplace_back(artefact.outputs[i].dtype, artefact.outputs[i].shape);
    fill_output(artefact.outputs[i], i, images, output.bytes());
  }
  return outputs;
}

}  // namespace frostline::test
