#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

  /// Sum over all domains, or empty (unmeasured) when any of `required` could not be read.
  /// `reason` and `kind` are set to match.
  struct Total {
    std::optional<Joules> energy;
    Kind kind = Kind::kUnmeasured;
    std::string reason;
  };
  Total total() const;
};

/// The meters of this machine.
class MeterSet {
 public:
  explicit MeterSet(std::vector<std::unique_ptr<PowerMeter>> meters);

  std::vector<Domain> domains() const;

  /// An open window. Closing one of under 50 counter updates or 5 s gives `unmeasured` with the
  /// reason `window too short`.
  class Window {
   public:
    WindowEnergy close();

   private:
    friend class MeterSet;
    MeterSet* meters_ = nullptr;
    std::int64_t opened_ns_ = 0;
    std::vector<std::optional<Reading>> first_;
  };
  Window open();

 private:
  std::vector<std::unique_ptr<PowerMeter>> meters_;
};

/// Options of `find_meters`.
struct MeterOptions {
  /// TOML profile that declares idle and busy watts of domains without a counter; empty = none.
  std::string declared_profile;
};

/// Opens every meter of this machine: NVML (opened at run time) and RAPL; a device that is there but
/// cannot be read is listed as unmeasured with the reason; without any, one unmeasured
/// `cpu:package` domain.
MeterSet find_meters(const MeterOptions& options = {});

}  // namespace frostline::power
