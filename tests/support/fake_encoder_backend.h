#pragma once

#include <chrono>
#include <limits>
#include <memory>

#include "frostline/accel/backend.h"

namespace frostline::test {

/// What a fake device does wrong, by number of the request since the session was made.
struct FakeOptions {
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  std::chrono::milliseconds latency{0};
  std::int64_t lost_at = kNever;     ///< This request and all later ones find the device gone.
  std::int64_t hang_at = kNever;     ///< This request never completes.
  std::int64_t wrong_from = kNever;  ///< From here on every output byte is inverted.
  bool is_newest_first = false;      ///< Completes the request submitted last first.
};

/// A device whose outputs are a deterministic function of each image alone.
class FakeEncoderBackend final : public accel::EncoderBackend {
 public:
  explicit FakeEncoderBackend(FakeOptions options = {}) : options_(options) {}

  std::string name() const override { return "fake"; }

  std::string version() const override { return "1"; }

  std::vector<accel::DeviceInfo> devices() const override {
    return {{"fake", "CPU", true, "", {"fp32", "bf16", "int8", "int8+bf16"}}};
  }

  std::unique_ptr<accel::EncoderSession> compile(
      const accel::Artefact& artefact,
      const std::string& device,
      const accel::CompileOptions& options) const override;

 private:
  FakeOptions options_;
};

/// Outputs of the fake for one batch, one after another.
std::vector<HostTensor> fake_outputs(const accel::Artefact& artefact,
                                     std::span<const std::byte> images);

}  // namespace frostline::test
