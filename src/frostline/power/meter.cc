#include "frostline/power/meter.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace frostline::power {

namespace {

using DomainPointers = std::vector<const DomainEnergy*>;

WindowEnergy::Total unmeasured_total(const std::vector<std::string>& problems) {
  return {std::nullopt, Kind::kUnmeasured, fmt::format("{}", fmt::join(problems, "; "))};
}

/// A reason that holds for every unmeasured domain is given once and bare, as scripts compare it.
std::vector<std::string> problems_of(const DomainPointers& parts) {
  std::vector<std::string> problems;
  bool same = true;
  const std::string* first = nullptr;
  for (const DomainEnergy* part : parts) {
    if (part->energy) {
      continue;
    }
    first = first == nullptr ? &part->domain.reason : first;
    same = same && *first == part->domain.reason;
    problems.push_back(fmt::format("{}: {}", part->domain.name, part->domain.reason));
  }
  if (same && first != nullptr && *first == "window too short") {
    return {*first};
  }
  return problems;
}

WindowEnergy::Total sum(const DomainPointers& parts, std::vector<std::string> problems) {
  for (std::string& problem : problems_of(parts)) {
    problems.push_back(std::move(problem));
  }
  if (parts.empty() && problems.empty()) {
    problems.emplace_back("no energy meter");
  }
  if (!problems.empty()) {
    return unmeasured_total(problems);
  }
  WindowEnergy::Total total{Joules(0), Kind::kMeasured, {}};
  for (const DomainEnergy* part : parts) {
    total.energy = *total.energy + *part->energy;
    total.kind = std::max(total.kind, part->domain.kind);
  }
  if (total.kind != Kind::kMeasured) {
    std::vector<std::string> softer;
    for (const DomainEnergy* part : parts) {
      if (part->domain.kind != Kind::kMeasured) {
        softer.push_back(fmt::format("{} is {}", part->domain.name, to_string(part->domain.kind)));
      }
    }
    total.reason = fmt::format("{}", fmt::join(softer, ", "));
  }
  return total;
}

}  // namespace

std::string to_string(Kind kind) {
  constexpr std::array kNames = {"measured", "estimated", "declared", "unmeasured"};
  return kNames.at(static_cast<std::size_t>(kind));
}

void PowerMeter::set_busy_share(double /*share*/) {}

bool covers(std::string_view pattern, std::string_view name) {
  if (!name.starts_with(pattern)) {
    return false;
  }
  return name.size() == pattern.size() || name[pattern.size()] == ':' ||
         name[pattern.size()] == '-';
}

WindowEnergy::Total WindowEnergy::total() const {
  DomainPointers parts;
  for (const DomainEnergy& domain : domains) {
    parts.push_back(&domain);
  }
  return sum(parts, {});
}

WindowEnergy::Total WindowEnergy::total(std::span<const std::string> required) const {
  DomainPointers parts;
  std::vector<std::string> problems;
  for (const std::string& pattern : required) {
    bool is_covered = false;
    for (const DomainEnergy& domain : domains) {
      if (covers(pattern, domain.domain.name)) {
        is_covered = true;
        if (std::find(parts.begin(), parts.end(), &domain) == parts.end()) {
          parts.push_back(&domain);
        }
      }
    }
    if (!is_covered) {
      problems.push_back(fmt::format("{}: no energy meter", pattern));
    }
  }
  return sum(parts, std::move(problems));
}

}  // namespace frostline::power
