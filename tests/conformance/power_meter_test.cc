#include <utility>

#include <dlfcn.h>

#include "frostline/power/declared/declared_meter.h"
#include "frostline/power/nvml/nvml_meter.h"
#include "frostline/power/rapl/rapl_meter.h"
#include "frostline/power/unmeasured_meter.h"
#include "tests/conformance/power_meter_suite.h"
#include "tests/power/fake_nvml.h"
#include "tests/power/fake_powercap.h"

namespace frostline::test {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

class NvmlWorld final : public PowerMeterWorld {
 public:
  NvmlWorld() : library_(::dlopen(FROSTLINE_FAKE_NVML, RTLD_NOW | RTLD_LOCAL)) {
    const auto get = reinterpret_cast<FakeNvmlState* (*)()>(::dlsym(library_, "fake_nvml_state"));
    state_ = get();
    *state_ = FakeNvmlState{};
    meters_ = power::find_nvml_meters({FROSTLINE_FAKE_NVML, "/nonexistent", &clock});
  }

  NvmlWorld(const NvmlWorld&) = delete;
  NvmlWorld& operator=(const NvmlWorld&) = delete;
  NvmlWorld(NvmlWorld&&) = delete;
  NvmlWorld& operator=(NvmlWorld&&) = delete;

  ~NvmlWorld() override {
    meters_.clear();
    ::dlclose(library_);
  }

  power::PowerMeter& meter() override { return *meters_.at(0); }

  void run_for_a_second(int joules) override {
    clock.advance_ns(kSecond);
    state_->energy_mj[0] += static_cast<unsigned long long>(joules) * 1000;
  }

  bool lose() override {
    state_->energy_code[0] = 15;
    return true;
  }

 private:
  void* library_;
  FakeNvmlState* state_;
  std::vector<std::unique_ptr<power::PowerMeter>> meters_;
};

/// A package whose counter wraps every four seconds.
class RaplWorld final : public PowerMeterWorld {
 public:
  RaplWorld() {
    tree_.add_zone("intel-rapl:0", "package-0", kRangeUj, count_uj_);
    meters_ = power::find_rapl_meters({tree_.path(), &clock, {}, false});
  }

  power::PowerMeter& meter() override { return *meters_.at(0); }

  void run_for_a_second(int joules) override {
    clock.advance_ns(kSecond);
    count_uj_ = (count_uj_ + static_cast<std::uint64_t>(joules) * 1'000'000) % kRangeUj;
    tree_.set("intel-rapl:0", count_uj_);
  }

  bool lose() override {
    std::filesystem::remove(tree_.path() / "intel-rapl:0/energy_uj");
    return true;
  }

 private:
  static constexpr std::uint64_t kRangeUj = 200'000'000;

  FakePowercap tree_;
  std::uint64_t count_uj_ = 170'000'000;
  std::vector<std::unique_ptr<power::PowerMeter>> meters_;
};

class SingleMeterWorld final : public PowerMeterWorld {
 public:
  explicit SingleMeterWorld(
      const std::function<std::unique_ptr<power::PowerMeter>(const Clock&)>& make)
      : meter_(make(clock)) {}

  power::PowerMeter& meter() override { return *meter_; }

  void run_for_a_second(int /*joules*/) override { clock.advance_ns(kSecond); }

  bool lose() override { return false; }

 private:
  std::unique_ptr<power::PowerMeter> meter_;
};

PowerMeterCase single(std::string name,
                      std::function<std::unique_ptr<power::PowerMeter>(const Clock&)> make) {
  return {std::move(name),
          [make = std::move(make)] { return std::make_unique<SingleMeterWorld>(make); }};
}

INSTANTIATE_TEST_SUITE_P(
    BuiltIn,
    PowerMeterSuite,
    ::testing::Values(PowerMeterCase{"Nvml", [] { return std::make_unique<NvmlWorld>(); }},
                      PowerMeterCase{"Rapl", [] { return std::make_unique<RaplWorld>(); }},
                      single("Declared",
                             [](const Clock& clock) {
                               return power::make_declared_meter(
                                   {"npu:0", "NPU board", Watts(10), Watts(50), "data sheet"},
                                   clock);
                             }),
                      single("Unmeasured",
                             [](const Clock&) {
                               return std::make_unique<power::UnmeasuredMeter>(
                                   "npu:0", "NPU board", "no driver");
                             })),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace frostline::test
