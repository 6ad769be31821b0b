#include "frostline/policy/ar_actor_spec.h"

#include <fmt/format.h>

#include "frostline/core/error.h"

namespace frostline::policy {
namespace {

// One list of the keys, for writing and for reading.
template <class Spec, class Visit>
void visit_fields(Spec& spec, Visit visit) {
  visit("camera", spec.camera);
  visit("image_height_px", spec.image_height_px);
  visit("image_width_px", spec.image_width_px);
  visit("backbone_width", spec.backbone_width);
  visit("dim", spec.dim);
  visit("num_heads", spec.num_heads);
  visit("ffn_dim", spec.ffn_dim);
  visit("num_encoder_layers", spec.num_encoder_layers);
  visit("num_decoder_layers", spec.num_decoder_layers);
  visit("state_dim", spec.state_dim);
  visit("action_dim", spec.action_dim);
  visit("latent_dim", spec.latent_dim);
  visit("history", spec.history);
  visit("chunk", spec.chunk);
  visit("test_history", spec.test_history);
  visit("vision_interval", spec.vision_interval);
  visit("dropout", spec.dropout);
  visit("history_mask_probability", spec.history_mask_probability);
}

void require(bool holds, const char* what, const std::string& values) {
  FROSTLINE_REQUIRE(holds,
                    ErrorCode::kConfig,
                    "inconsistent policy configuration",
                    fmt::format("{}: {} ; correct the policy's config.json", what, values));
}

void check(const ArActorSpec& spec) {
  visit_fields(spec, [](const char* name, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::int64_t>) {
      const std::int64_t smallest = std::string_view(name) == "history" ? 0 : 1;
      require(value >= smallest, "a size is too small", fmt::format("{}={}", name, value));
    }
  });
  require(spec.dim % (2 * spec.num_heads) == 0 && spec.dim % 4 == 0,
          "dim must be a multiple of 4 and of twice num_heads",
          fmt::format("dim={} num_heads={}", spec.dim, spec.num_heads));
  require(spec.num_decoder_layers <= spec.num_encoder_layers,
          "num_decoder_layers must not exceed num_encoder_layers",
          fmt::format("num_decoder_layers={} num_encoder_layers={}",
                      spec.num_decoder_layers,
                      spec.num_encoder_layers));
  require(spec.dropout >= 0 && spec.dropout < 1,
          "dropout must lie in [0, 1)",
          fmt::format("dropout={}", spec.dropout));
  require(spec.history_mask_probability >= 0 && spec.history_mask_probability <= 1,
          "history_mask_probability must lie in [0, 1]",
          fmt::format("history_mask_probability={}", spec.history_mask_probability));
}

}  // namespace

ArActorSpec ar_actor_preset(const std::string& name) {
  ArActorSpec spec;
  if (name == "paper") {
    return spec;
  }
  if (name == "demo") {
    spec.image_height_px = 240;
    spec.image_width_px = 320;
    spec.backbone_width = 16;
    spec.dim = 128;
    spec.ffn_dim = 512;
    return spec;
  }
  throw Error(
      ErrorCode::kUsage, "unknown preset", fmt::format("found={} ; use paper or demo", name));
}

Json to_json(const ArActorSpec& spec) {
  Json document = Json::object();
  visit_fields(spec, [&](const char* name, const auto& value) { document[name] = value; });
  return document;
}

ArActorSpec ar_actor_spec_from_json(const Json& document) {
  ArActorSpec spec;
  visit_fields(spec, [&](const char* name, auto& value) {
    const auto found = document.find(name);
    FROSTLINE_REQUIRE(found != document.end(),
                      ErrorCode::kConfig,
                      "key missing in a policy configuration",
                      fmt::format("key={} ; take config.json from the policy's checkpoint", name));
    using Value = std::decay_t<decltype(value)>;
    const bool fits = std::is_same_v<Value, std::string> ? found->is_string()
                      : std::is_same_v<Value, double>    ? found->is_number()
                                                         : found->is_number_integer();
    FROSTLINE_REQUIRE(fits,
                      ErrorCode::kConfig,
                      "value of another type in a policy configuration",
                      fmt::format("key={} value={} ; take config.json from the policy's checkpoint",
                                  name,
                                  found->dump()));
    value = found->template get<Value>();
  });
  check(spec);
  return spec;
}

}  // namespace frostline::policy
