#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frostline/accel/artefact.h"
#include "frostline/core/tensor.h"

namespace frostline::accel {

struct DeviceInfo {
  std::string backend;  ///< `openvino`.
  std::string device;   ///< `CPU`, `NPU`, `none`.
  bool is_usable = false;
  std::string reason;  ///< Why not usable.
  std::vector<std::string> precisions;
};

/// Options of `EncoderBackend::compile`.
struct CompileOptions {
  int num_slots = 2;
  int num_threads = 1;  ///< Cores the device may use, where it runs on the host.
};

/// Names a request in flight.
struct Ticket {
  std::uint64_t id = 0;
};

/// A slot's own input memory, to be filled before `submit`. Valid until the slot's result was
/// waited for.
struct Slot {
  int index = 0;
  std::span<std::byte> input;
};

/// Counters since the session was made.
struct SessionCounters {
  std::int64_t submitted = 0;
  std::int64_t completed = 0;
  std::int64_t busy_ns = 0;  ///< Summed device time of completed requests.
};

/// When one request ran, on `Clock::steady()`.
struct RequestTiming {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// One compiled encoder on one device. Thread-safe; one thread owns a slot between `borrow` and
/// `wait`.
class EncoderSession {
 public:
  EncoderSession() = default;
  EncoderSession(const EncoderSession&) = delete;
  EncoderSession& operator=(const EncoderSession&) = delete;
  EncoderSession(EncoderSession&&) = delete;
  EncoderSession& operator=(EncoderSession&&) = delete;
  virtual ~EncoderSession() = default;

  virtual const TensorSpec& input() const = 0;
  virtual const std::vector<TensorSpec>& outputs() const = 0;
  virtual int num_slots() const = 0;
  /// Runtime version, resolved precision and instruction set: what a fingerprint of features needs
  /// beside the artefact's.
  virtual std::string runtime_identity() const = 0;

  /// Waits for a free slot.
  virtual Slot borrow() = 0;
  /// Starts the request of a borrowed slot whose input was filled.
  virtual Ticket submit(const Slot& slot) = 0;
  /// Waits for a result and copies it out: one span per output, of exactly its size. Frees the
  /// slot. Errors: `kDevice` when the deadline passed; `kDeviceLost` when the device is gone.
  virtual RequestTiming wait(Ticket ticket,
                             std::span<const std::span<std::byte>> outputs,
                             std::chrono::milliseconds deadline) = 0;
  /// Waits until nothing is in flight and drops the results.
  virtual void drain() = 0;
  virtual SessionCounters counters() const = 0;
};

/// An SDK. Stateless; thread-safe.
class EncoderBackend {
 public:
  EncoderBackend() = default;
  EncoderBackend(const EncoderBackend&) = delete;
  EncoderBackend& operator=(const EncoderBackend&) = delete;
  EncoderBackend(EncoderBackend&&) = delete;
  EncoderBackend& operator=(EncoderBackend&&) = delete;
  virtual ~EncoderBackend() = default;

  virtual std::string name() const = 0;
  /// Version of the SDK; empty when it is missing.
  virtual std::string version() const = 0;
  /// At least one entry; `device` is `none` when the SDK is missing.
  virtual std::vector<DeviceInfo> devices() const = 0;
  /// Errors: `kUnsupported` naming device and known ones, or the ops it cannot run; `kDevice`.
  virtual std::unique_ptr<EncoderSession> compile(const Artefact& artefact,
                                                  const std::string& device,
                                                  const CompileOptions& options) const = 0;
};

/// Every backend of this build, in order of preference.
std::vector<std::unique_ptr<EncoderBackend>> builtin_backends();

/// Resolves `openvino:CPU`. Errors: `kUsage` naming the known backends and devices.
std::unique_ptr<EncoderSession> open_session(const std::string& backend_and_device,
                                             const Artefact& artefact,
                                             const CompileOptions& options);

}  // namespace frostline::accel
