#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include <openvino/openvino.hpp>

#include "frostline/accel/backend.h"

namespace frostline::accel {

/// One compiled model; a slot is one inference request with its own memory. Thread-safe.
class OpenVinoSession final : public EncoderSession {
 public:
  OpenVinoSession(ov::CompiledModel model,
                  const Artefact& artefact,
                  int num_slots,
                  std::string identity);
  OpenVinoSession(const OpenVinoSession&) = delete;
  OpenVinoSession& operator=(const OpenVinoSession&) = delete;
  OpenVinoSession(OpenVinoSession&&) = delete;
  OpenVinoSession& operator=(OpenVinoSession&&) = delete;
  ~OpenVinoSession() override;

  const TensorSpec& input() const override { return input_; }

  const std::vector<TensorSpec>& outputs() const override { return outputs_; }

  int num_slots() const override { return static_cast<int>(slots_.size()); }

  std::string runtime_identity() const override { return identity_; }

  Slot borrow() override;
  Ticket submit(const Slot& slot) override;
  RequestTiming wait(Ticket ticket,
                     std::span<const std::span<std::byte>> outputs,
                     std::chrono::milliseconds deadline) override;
  void drain() override;
  SessionCounters counters() const override;

 private:
  enum class State { kFree, kBorrowed, kRunning, kDone };

  struct Request {
    ov::InferRequest request;
    State state = State::kFree;
    std::uint64_t ticket = 0;
    RequestTiming timing;
    std::exception_ptr failure;
    bool is_awaited = false;
  };

  void check_model();
  void on_completion(Request& request, const std::exception_ptr& failure);
  void release(Request& request);
  Request& find(Ticket ticket);

  ov::CompiledModel model_;
  TensorSpec input_;
  std::vector<TensorSpec> outputs_;
  std::string identity_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Request> slots_;
  std::uint64_t next_ticket_ = 1;
  SessionCounters counters_;
};

}  // namespace frostline::accel
