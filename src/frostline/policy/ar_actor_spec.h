#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frostline/core/json.h"

namespace frostline::policy {

/// Sizes of an AR-Actor; the preset `paper` has 28,771,520 + 22,743,708 parameters.
/// Source: arXiv 2603.10126; parameter match of the offloading paper's table I.
struct ArActorSpec {
  std::string camera = "observation.images.top";
  std::int64_t image_height_px = 480;
  std::int64_t image_width_px = 640;
  std::int64_t backbone_width = 64;  ///< Channels of ResNet18's first stage; the last has 8 times.
  std::int64_t dim = 512;
  std::int64_t num_heads = 8;
  std::int64_t ffn_dim = 3200;
  std::int64_t num_encoder_layers = 4;
  std::int64_t num_decoder_layers = 4;  ///< At most `num_encoder_layers`.
  std::int64_t state_dim = 14;
  std::int64_t action_dim = 14;
  std::int64_t latent_dim = 32;  ///< Of an unused projection that published checkpoints carry.
  std::int64_t history = 20;
  std::int64_t chunk = 20;
  std::int64_t test_history = 30;     ///< Slots of the state ring at inference.
  std::int64_t vision_interval = 15;  ///< Environment steps between two encodings.
  double dropout = 0.1;
  double history_mask_probability = 0.5;

  std::int64_t tokens_high() const { return (image_height_px + 31) / 32; }

  std::int64_t tokens_wide() const { return (image_width_px + 31) / 32; }

  std::int64_t num_tokens() const { return tokens_high() * tokens_wide(); }

  friend bool operator==(const ArActorSpec&, const ArActorSpec&) = default;
};

/// Errors: `kUsage` naming the known presets (`paper`, `demo`).
ArActorSpec ar_actor_preset(const std::string& name);

Json to_json(const ArActorSpec& spec);
/// Errors: `kConfig` naming a missing or inconsistent key with its value.
ArActorSpec ar_actor_spec_from_json(const Json& document);

}  // namespace frostline::policy
