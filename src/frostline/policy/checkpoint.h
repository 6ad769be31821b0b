#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "frostline/core/fingerprint.h"
#include "frostline/core/json.h"
#include "frostline/policy/ar_actor_spec.h"
#include "frostline/policy/normaliser.h"
#include "frostline/policy/parameters.h"

namespace frostline::policy {

/// A policy as it lies on disk.
struct ArActorCheckpoint {
  ArActorSpec spec;
  ParameterSet encoder;
  ParameterSet expert;
  Normaliser state;
  Normaliser action;
};

/// What of a policy is written; borrowed.
struct ArActorCheckpointView {
  const ArActorSpec& spec;
  const ParameterSet& encoder;
  const ParameterSet& expert;
  const Normaliser& state;
  const Normaliser& action;
  std::optional<Json> train_config;  ///< Written as `train_config.json` when given.
};

/// Writes `folder` (`…/checkpoints/NNNNNN/pretrained_model`) in LeRobot's layout: config.json of
/// type `ar_actor`, model.safetensors, both processors. Written beside and renamed.
/// Errors: `kIo`.
/// Source: LeRobot 0.6.1, checkpoint layout.
void write_checkpoint(const std::filesystem::path& folder, const ArActorCheckpointView& view);

/// Accepts the folder itself or a parent that holds `pretrained_model`.
/// Errors: `kIo` for a missing file; `kData` for another policy type, a missing or unexpected
/// tensor, or another shape: names tensor, both shapes, the file and what to do.
ArActorCheckpoint read_checkpoint(const std::filesystem::path& folder,
                                  at::Device device = at::kCPU);

/// An encoder alone, as `frostline pretrain` ships it.
struct EncoderFile {
  ArActorSpec spec;
  ParameterSet parameters;
  Fingerprint fingerprint;  ///< Over the spec's encoder sizes and the fp32 values.
};

/// Stores fp32 or, in half the space, fp16; metadata holds spec and fingerprint. With fp16 the
/// fingerprint is that of the rounded values, which are what a reader gets. Errors: `kIo`.
/// Returns the fingerprint written.
Fingerprint write_encoder(const std::filesystem::path& path,
                          const ArActorSpec& spec,
                          const ParameterSet& parameters,
                          DType storage = DType::kF32);

/// Accepts an encoder file or the folder of a checkpoint, whose encoder it takes.
/// Errors: as `read_checkpoint`; `kData` when values do not have the recorded fingerprint.
EncoderFile read_encoder(const std::filesystem::path& path, at::Device device = at::kCPU);

/// Depends on what the encoder computes: its sizes and values, not on device or storage.
Fingerprint encoder_fingerprint(const ArActorSpec& spec, const ParameterSet& parameters);

}  // namespace frostline::policy
