#include "frostline/power/rapl/rapl_meter.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <stop_token>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/core/file.h"
#include "frostline/power/unmeasured_meter.h"

namespace frostline::power {

namespace {

namespace fs = std::filesystem;
using CounterReader = std::function<int(const fs::path&, std::string&)>;

/// The counters step about every millisecond (Intel SDM volume 3B, section 15.10.1).
constexpr std::int64_t kUpdatePeriodNs = 1'000'000;
/// More than any processor package uses; a jump beyond it is a reset, not a wrap.
constexpr double kMaxWatts = 2000;

int read_sysfs(const fs::path& path, std::string& text) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return errno;
  }
  std::array<char, 64> buffer{};
  const ssize_t size = ::read(file, buffer.data(), buffer.size());
  const int error = size < 0 ? errno : 0;
  ::close(file);
  text.assign(buffer.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
  return error;
}

std::optional<std::uint64_t> parse_count(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || (end != text.data() + text.size() && *end != '\n')) {
    return std::nullopt;
  }
  return value;
}

std::string describe_failure(int error, const fs::path& path) {
  if (error == EACCES || error == EPERM) {
    return fmt::format(
        "permission denied: {} ; run as root, or allow it until the next start with "
        "'sudo chmod a+r {}'",
        path.string(),
        path.string());
  }
  return fmt::format("cannot read {}: {}", path.string(), std::strerror(error));
}

/// One zone of the tree whose counter wraps at a known range.
class RaplMeter final : public PowerMeter {
 public:
  RaplMeter(Domain domain,
            fs::path zone,
            std::uint64_t range_uj,
            CounterReader reader,
            const Clock& clock,
            bool has_keeper)
      : domain_(std::move(domain)),
        counter_(std::move(zone) / "energy_uj"),
        range_uj_(range_uj),
        reader_(std::move(reader)),
        clock_(clock) {
    if (has_keeper) {
      keeper_ = std::jthread([this](const std::stop_token& stop) { keep(stop); });
    }
  }

  const Domain& domain() const override { return domain_; }

  std::optional<Reading> read() override {
    const std::lock_guard lock(mutex_);
    return read_locked();
  }

  std::string failure() const override {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  /// Once lost, joules are missing from the sum for good, so a failure stays.
  std::optional<Reading> fail(std::string reason) {
    failure_ = std::move(reason);
    return std::nullopt;
  }

  std::optional<Reading> read_locked() {
    if (!failure_.empty()) {
      return std::nullopt;
    }
    std::string text;
    if (const int error = reader_(counter_, text); error != 0) {
      return fail(describe_failure(error, counter_));
    }
    const std::optional<std::uint64_t> raw = parse_count(text);
    if (!raw || *raw > range_uj_) {
      return fail(fmt::format("{} holds '{}', not a count up to {}",
                              counter_.string(),
                              text.substr(0, text.find('\n')),
                              range_uj_));
    }
    const std::int64_t now_ns = clock_.now_ns();
    if (last_raw_) {
      const double elapsed_s = seconds(now_ns - last_ns_);
      if (elapsed_s > max_gap_s()) {
        return fail(fmt::format("the counter was not read for {:.0f} s and may have wrapped twice",
                                elapsed_s));
      }
      const bool has_wrapped = *raw < *last_raw_;
      const std::uint64_t step = has_wrapped ? range_uj_ - *last_raw_ + *raw : *raw - *last_raw_;
      if (has_wrapped && static_cast<double>(step) * 1e-6 > kMaxWatts * (elapsed_s + 0.01)) {
        return fail(fmt::format("the counter ran backwards: from {} to {} uJ", *last_raw_, *raw));
      }
      total_uj_ += step;
    }
    last_raw_ = raw;
    last_ns_ = now_ns;
    return Reading{now_ns, Joules(static_cast<double>(total_uj_) * 1e-6)};
  }

  double max_gap_s() const {
    return std::max(1.0, static_cast<double>(range_uj_) * 1e-6 / kMaxWatts);
  }

  void keep(const std::stop_token& stop) {
    const auto period = std::chrono::duration<double>(std::clamp(max_gap_s() / 4, 0.5, 60.0));
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any stopped;
    while (!stopped.wait_for(lock, stop, period, [&stop] { return stop.stop_requested(); })) {
      read();
    }
  }

  const Domain domain_;
  const fs::path counter_;
  const std::uint64_t range_uj_;
  const CounterReader reader_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::string failure_;
  std::optional<std::uint64_t> last_raw_;
  std::int64_t last_ns_ = 0;
  std::uint64_t total_uj_ = 0;
  std::jthread keeper_;
};

std::string read_line(const fs::path& path) {
  std::string text;
  if (read_sysfs(path, text) != 0) {
    return {};
  }
  return text.substr(0, text.find('\n'));
}

std::unique_ptr<PowerMeter> open_zone(const fs::path& zone,
                                      const RaplOptions& options,
                                      Domain domain) {
  const CounterReader reader = options.read_counter ? options.read_counter : read_sysfs;
  const auto unmeasured = [&domain](std::string reason) {
    return std::make_unique<UnmeasuredMeter>(domain.name, domain.scope, std::move(reason));
  };
  const std::optional<std::uint64_t> range = parse_count(read_line(zone / "max_energy_range_uj"));
  if (!range || *range == 0) {
    return unmeasured(fmt::format("cannot read where the counter wraps: {}",
                                  (zone / "max_energy_range_uj").string()));
  }
  std::string text;
  if (const int error = reader(zone / "energy_uj", text); error != 0) {
    return unmeasured(describe_failure(error, zone / "energy_uj"));
  }
  if (!parse_count(text)) {
    return unmeasured(fmt::format("{} holds no count", (zone / "energy_uj").string()));
  }
  domain.kind = Kind::kMeasured;
  domain.update_period_ns = kUpdatePeriodNs;
  return std::make_unique<RaplMeter>(
      std::move(domain), zone, *range, reader, *options.clock, options.has_keeper);
}

std::vector<fs::path> sorted_zones(const fs::path& folder) {
  std::vector<fs::path> zones;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    // `intel-rapl-mmio` is a second view of the same package.
    if (entry->path().filename().string().starts_with("intel-rapl:")) {
      zones.push_back(entry->path());
    }
  }
  std::sort(zones.begin(), zones.end());
  return zones;
}

}  // namespace

std::vector<std::unique_ptr<PowerMeter>> find_rapl_meters(const RaplOptions& options) {
  std::vector<std::unique_ptr<PowerMeter>> meters;
  for (const fs::path& zone : sorted_zones(options.folder)) {
    const std::string name = read_line(zone / "name");
    const std::string id = zone.filename().string().substr(std::strlen("intel-rapl:"));
    if (name.starts_with("package")) {
      meters.push_back(open_zone(zone, options, {"cpu:" + name, "CPU " + name, 0, {}, {}}));
    } else if (name == "dram") {
      const std::string package = id.substr(0, id.find(':'));
      meters.push_back(open_zone(
          zone,
          options,
          {"cpu:dram-" + package, fmt::format("memory of CPU package {}", package), 0, {}, {}}));
    }
  }
  return meters;
}

}  // namespace frostline::power
