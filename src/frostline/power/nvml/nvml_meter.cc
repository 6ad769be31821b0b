#include "frostline/power/nvml/nvml_meter.h"

#include <filesystem>
#include <mutex>

#include <fmt/format.h>

#include "frostline/power/nvml/nvml_library.h"
#include "frostline/power/unmeasured_meter.h"

namespace frostline::power {

namespace {

using Nvml = std::shared_ptr<const NvmlLibrary>;

/// The counter steps about every 100 ms on Volta and later (arXiv 2312.02741, table 2).
constexpr std::int64_t kUpdatePeriodNs = 100'000'000;

class NvmlMeter final : public PowerMeter {
 public:
  NvmlMeter(Domain domain, Nvml nvml, NvmlLibrary::Device device, const Clock& clock)
      : domain_(std::move(domain)), nvml_(std::move(nvml)), device_(device), clock_(clock) {}

  const Domain& domain() const override { return domain_; }

  std::optional<Reading> read() override {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) {
      return std::nullopt;
    }
    unsigned long long energy_mj = 0;
    if (const int code = nvml_->total_energy_mj(device_, &energy_mj);
        code != NvmlLibrary::kSuccess) {
      failure_ = fmt::format("cannot read the energy counter: {}", nvml_->describe(code));
      return std::nullopt;
    }
    if (energy_mj < last_mj_) {
      failure_ = fmt::format("the counter ran backwards: from {} to {} mJ", last_mj_, energy_mj);
      return std::nullopt;
    }
    last_mj_ = energy_mj;
    return Reading{clock_.now_ns(), Joules(static_cast<double>(energy_mj) * 1e-3)};
  }

  std::string failure() const override {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  const Domain domain_;
  const Nvml nvml_;
  const NvmlLibrary::Device device_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::string failure_;
  unsigned long long last_mj_ = 0;
};

std::unique_ptr<PowerMeter> open_board(const Nvml& nvml, unsigned index, const Clock& clock) {
  Domain domain{fmt::format("gpu:{}", index), "GPU board", kUpdatePeriodNs, Kind::kMeasured, {}};
  const auto unmeasured = [&domain](std::string reason) {
    return std::make_unique<UnmeasuredMeter>(domain.name, domain.scope, std::move(reason));
  };
  NvmlLibrary::Device device = nullptr;
  if (const int code = nvml->handle(index, &device); code != NvmlLibrary::kSuccess) {
    return unmeasured(fmt::format("cannot open the board: {}", nvml->describe(code)));
  }
  domain.scope = fmt::format("GPU board {} ({})", nvml->name(device), nvml->uuid(device));
  unsigned long long energy_mj = 0;
  if (const int code = nvml->total_energy_mj(device, &energy_mj); code != NvmlLibrary::kSuccess) {
    const char* remedy = code == NvmlLibrary::kNoPermission
                             ? "run as a user who may use the device"
                             : "energy counters need a Volta or later board";
    return unmeasured(
        fmt::format("cannot read the energy counter: {} ; {}", nvml->describe(code), remedy));
  }
  return std::make_unique<NvmlMeter>(std::move(domain), nvml, device, clock);
}

bool has_device_file(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::exists(folder / "nvidia0", error);
}

}  // namespace

std::vector<std::unique_ptr<PowerMeter>> find_nvml_meters(const NvmlOptions& options) {
  std::vector<std::unique_ptr<PowerMeter>> meters;
  std::string problem;
  bool is_missing = false;
  const Nvml nvml = NvmlLibrary::open(options.library, problem, is_missing);
  unsigned count = 0;
  if (nvml != nullptr) {
    if (const int code = nvml->count(&count); code != NvmlLibrary::kSuccess) {
      problem = fmt::format("cannot count the boards: {}", nvml->describe(code));
    }
  }
  if (!problem.empty() && (!is_missing || has_device_file(options.device_folder))) {
    meters.push_back(std::make_unique<UnmeasuredMeter>("gpu:0", "GPU board", problem));
  }
  for (unsigned index = 0; index < count; ++index) {
    meters.push_back(open_board(nvml, index, *options.clock));
  }
  return meters;
}

}  // namespace frostline::power
