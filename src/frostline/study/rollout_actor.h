#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frostline/accel/backend.h"
#include "frostline/eval/rollout.h"
#include "frostline/policy/ar_actor_actor.h"
#include "frostline/policy/checkpoint.h"
#include "frostline/split/torch/tail.h"

namespace frostline::study {

/// Where a rollout's features come from.
struct RolloutFeatures {
  /// Empty: the checkpoint's own encoder in fp32.
  std::optional<accel::Artefact> artefact;
  std::string backend = "openvino:CPU";
  int num_threads = 0;  ///< Of the backend; 0 = all cores.

  /// `fp32`, `int8`, …, as `outcomes.parquet` names it.
  std::string precision() const { return artefact ? artefact->precision : "fp32"; }
};

/// Drives environments with a trained AR-Actor. One thread.
///
/// Runs on the device of the checkpoint's parameters. On the CPU libtorch runs on one thread and a
/// fixed batch, for its results change with both.
class RolloutActor final : public eval::Actor {
 public:
  /// Errors: those of the checkpoint and the backend; `kConfig` when the artefact is for images of
  /// another size.
  RolloutActor(policy::ArActorCheckpoint checkpoint,
               const RolloutFeatures& features,
               std::int64_t batch);

  const policy::ArActorSpec& spec() const { return checkpoint_.spec; }

  std::int64_t batch() const override { return batch_; }

  bool needs_images(std::int64_t step) const override;
  void reset(std::span<const std::uint64_t> env_seeds) override;
  void act(std::int64_t step,
           std::span<const float> states,
           std::span<const std::uint8_t> images,
           std::span<float> actions) override;

 private:
  policy::Prefix encode(std::span<const std::uint8_t> images);

  policy::ArActorCheckpoint checkpoint_;
  std::int64_t batch_;
  policy::ArActorEncoder encoder_;
  policy::AutoregressiveBranch expert_;
  policy::ArActorActor actor_;
  std::unique_ptr<split::FrozenTail> tail_;
  std::unique_ptr<accel::EncoderSession> session_;
  HostTensor image_;
};

/// Simulator images of the size that a policy needs.
sim::RenderOptions render_options(const policy::ArActorSpec& spec);

}  // namespace frostline::study
