#include "frostline/power/meter_json.h"

namespace frostline::power {

namespace {

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json joules_or_null(const std::optional<Joules>& energy) {
  return energy ? Json(energy->value) : Json(nullptr);
}

}  // namespace

Json meters_to_json(const std::vector<Domain>& domains) {
  Json list = Json::array();
  for (const Domain& domain : domains) {
    list.push_back(
        {{"domain", domain.name},
         {"kind", to_string(domain.kind)},
         {"reason", text_or_null(domain.reason)},
         {"scope", domain.scope},
         {"update_period_ms",
          domain.update_period_ns > 0 ? Json(static_cast<double>(domain.update_period_ns) * 1e-6)
                                      : Json(nullptr)}});
  }
  return list;
}

Json to_json(const WindowEnergy& energy) {
  Json domains = Json::array();
  for (const DomainEnergy& part : energy.domains) {
    domains.push_back({{"domain", part.domain.name},
                       {"kind", to_string(part.domain.kind)},
                       {"reason", text_or_null(part.domain.reason)},
                       {"joules_j", joules_or_null(part.energy)}});
  }
  const WindowEnergy::Total total = energy.total();
  return {{"duration_s", energy.duration_s},
          {"domains", std::move(domains)},
          {"total",
           {{"value", joules_or_null(total.energy)},
            {"kind", to_string(total.kind)},
            {"reason", text_or_null(total.reason)}}}};
}

}  // namespace frostline::power
