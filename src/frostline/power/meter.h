#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frostline/core/clock.h"
#include "frostline/core/units.h"

namespace frostline::power {

/// How a figure came about; ordered from best to worst, a sum has the worst kind of its parts.
enum class Kind { kMeasured, kEstimated, kDeclared, kUnmeasured };

std::string to_string(Kind kind);

/// One separately metered thing: a GPU board, a CPU package, an NPU board.
struct Domain {
  std::string name;   ///< `gpu:0`, `cpu:package-0`.
  std::string scope;  ///< What the counter covers, for example "GPU board".
  std::int64_t update_period_ns = 0;
  Kind kind = Kind::kUnmeasured;
  std::string reason;  ///< Why it is unmeasured; empty otherwise.
};

/// Energy used since some fixed start.
struct Reading {
  std::int64_t time_ns = 0;
  Joules energy;
};

/// Reads the energy counter of one domain. Thread-safe.
class PowerMeter {
 public:
  PowerMeter() = default;
  PowerMeter(const PowerMeter&) = delete;
  PowerMeter& operator=(const PowerMeter&) = delete;
  PowerMeter(PowerMeter&&) = delete;
  PowerMeter& operator=(PowerMeter&&) = delete;
  virtual ~PowerMeter() = default;

  virtual const Domain& domain() const = 0;
  /// Never decreases. Empty when the counter cannot be read (any more); `domain().reason` or
  /// `failure()` says why.
  virtual std::optional<Reading> read() = 0;
  virtual std::string failure() const = 0;

  /// From now on the device works for `share` of the time. Only declared meters listen: a counter
  /// knows better.
  virtual void set_busy_share(double share);
};

/// Energy of one domain over a window.
struct DomainEnergy {
  Domain domain;
  std::optional<Joules> energy;  ///< Empty = unmeasured, with the reason in `domain.reason`.
};

/// Energy over a window, and the time between the readings.
struct WindowEnergy {
  double duration_s = 0;
  std::vector<DomainEnergy> domains;

  /// Sum over several domains. Empty (unmeasured) when one of them could not be read. `kind` is the
  /// worst of its parts; `reason` says which domains are unmeasured and why, or which were declared
  /// or estimated when others were not.
  struct Total {
    std::optional<Joules> energy;
    Kind kind = Kind::kUnmeasured;
    std::string reason;
  };

  /// The sum over every domain.
  Total total() const;

  /// The sum over the domains that did the work: each of `required` is the name of a domain
  /// (`gpu:0`) or the beginning of several (`cpu` covers `cpu:package-0`). One that no meter covers
  /// makes the total unmeasured.
  Total total(std::span<const std::string> required) const;
};

/// Whether `name` is `pattern` or begins with it followed by `:` or `-`.
bool covers(std::string_view pattern, std::string_view name);

/// The meters of this machine. Thread-safe; moving it keeps open windows valid.
class MeterSet {
 public:
  /// `clock` is the one that the meters use and outlives the set and its windows.
  explicit MeterSet(std::vector<std::unique_ptr<PowerMeter>> meters,
                    const Clock& clock = Clock::steady());

  std::vector<Domain> domains() const;

  /// An open window. A counter read over under 50 of its updates and under 5 s is `unmeasured` with
  /// the reason `window too short`; one that did not move is too, for every device that is on uses
  /// energy. One thread.
  class Window {
   public:
    /// Errors: `kUsage` when the window is not open (any more).
    WindowEnergy close();

   private:
    friend class MeterSet;
    struct Opened;
    std::shared_ptr<const Opened> opened_;
  };

  Window open();

  /// Tells the declared meters that `domain` covers how busy the device is from now on; 1 (always
  /// busy) until told. Errors: `kUsage` when `share` is not within 0..1.
  void set_busy_share(std::string_view domain, double share);

 private:
  struct Meters;
  std::shared_ptr<Meters> meters_;
};

/// Options of `find_meters`.
struct MeterOptions {
  /// TOML profile that declares idle and busy watts of domains without a counter; empty = none.
  std::string declared_profile;
  std::string nvml_library = "libnvidia-ml.so.1";
  /// Tells whether there is an NVIDIA device even when the library is not there.
  std::string device_folder = "/dev";
  std::string powercap_folder = "/sys/class/powercap";
  const Clock* clock = &Clock::steady();
};

/// Opens every meter of this machine: NVML (opened at run time) and RAPL. A device that is there
/// but cannot be read is listed as unmeasured with the reason and the remedy; without a readable
/// processor counter there is one unmeasured `cpu:package` domain. Declared domains stand in for
/// unmeasured ones and are added where there is none; they never replace a counter.
///
/// Errors: `kConfig` or `kIo` about the profile.
MeterSet find_meters(const MeterOptions& options = {});

}  // namespace frostline::power
