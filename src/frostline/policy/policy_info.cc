#include "frostline/policy/policy_info.h"

#include <string_view>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/policy/ar_actor_encoder.h"
#include "frostline/policy/ar_actor_expert.h"

namespace frostline::policy {
namespace {

// `model.encoder.layers.0.norm1.weight` -> `encoder.layers.0`; others end at their last dot or,
// with sub-modules, after the first word.
std::string module_of(std::string_view name) {
  name.remove_prefix(std::string_view("model.").size());
  const std::size_t layers = name.find(".layers.");
  if (layers != std::string_view::npos) {
    return std::string(name.substr(0, name.find('.', layers + std::size(".layers.") - 1)));
  }
  if (name.starts_with("backbone.")) {
    return "backbone";
  }
  return std::string(name.substr(0, name.rfind('.')));
}

std::int64_t add_modules(const std::vector<ParameterSpec>& specs, Json& by_module) {
  std::int64_t total = 0;
  for (const ParameterSpec& spec : specs) {
    if (spec.role == ParameterRole::kWeight) {
      Json& entry = by_module[module_of(spec.name)];
      const std::int64_t n = num_elements(spec.shape);
      entry = (entry.is_null() ? 0 : entry.get<std::int64_t>()) + n;
      total += n;
    }
  }
  return total;
}

Json preset_name(const ArActorSpec& spec) {
  for (const char* name : {"paper", "demo"}) {
    if (ar_actor_preset(name) == spec) {
      return name;
    }
  }
  return nullptr;
}

}  // namespace

Json info(const ArActorSpec& spec) {
  Json stages = Json::array({"backbone", "projection"});
  for (std::int64_t i = 0; i < spec.num_encoder_layers; ++i) {
    stages.push_back(fmt::format("layer_{}", i));
  }
  Json by_module = Json::object();
  const std::int64_t encoder = add_modules(encoder_parameter_specs(spec), by_module);
  const std::int64_t expert = add_modules(expert_parameter_specs(spec), by_module);
  return {{"policy", "ar_actor"},
          {"preset", preset_name(spec)},
          {"stages", std::move(stages)},
          {"parameters",
           {{"encoder", encoder},
            {"expert", expert},
            {"total", encoder + expert},
            {"by_module", std::move(by_module)}}},
          {"architecture", to_json(spec)}};
}

}  // namespace frostline::policy
