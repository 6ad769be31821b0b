#pragma once

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "frostline/accel/backend.h"

namespace frostline::test {

/// One implementation of `accel::EncoderBackend` and one of its devices.
struct EncoderBackendCase {
  std::string name;
  std::string device;
  std::function<std::unique_ptr<accel::EncoderBackend>()> make;
  std::string skip_reason = {};  ///< Why the device cannot be tested on this machine.
};

inline std::string case_name(const ::testing::TestParamInfo<EncoderBackendCase>& info) {
  return info.param.name;
}

/// What every encoder backend must do; implementations register in `encoder_backend_test.cc`.
class EncoderBackendSuite : public ::testing::TestWithParam<EncoderBackendCase> {
 protected:
  static constexpr std::int64_t kBatch = 2;
  static constexpr auto kDeadline = std::chrono::seconds(60);

  void SetUp() override;
  std::unique_ptr<accel::EncoderSession> open(int num_slots) const;

  accel::Artefact artefact_;
};

}  // namespace frostline::test
