#include <algorithm>

#include "frostline/accel/openvino/openvino_backend.h"
#include "tests/conformance/encoder_backend_suite.h"
#include "tests/support/fake_encoder_backend.h"

namespace frostline::test {

namespace {

EncoderBackendCase openvino_case() {
  EncoderBackendCase result{"OpenVinoCpu", "CPU", accel::make_openvino_backend};
  const auto devices = accel::make_openvino_backend()->devices();
  const bool is_usable = std::ranges::any_of(devices, [](const accel::DeviceInfo& info) {
    return info.device == "CPU" && info.is_usable;
  });
  if (!is_usable) {
    result.skip_reason = devices.front().reason;
  }
  return result;
}

EncoderBackendCase fake_case(const std::string& name, FakeOptions options) {
  return {name, "CPU", [options] { return std::make_unique<FakeEncoderBackend>(options); }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(All,
                         EncoderBackendSuite,
                         ::testing::Values(fake_case("Fake", {}),
                                           fake_case("FakeNewestFirst",
                                                     {.latency = std::chrono::milliseconds(2),
                                                      .is_newest_first = true}),
                                           openvino_case()),
                         case_name);

}  // namespace frostline::test
