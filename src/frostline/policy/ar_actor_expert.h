#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "frostline/policy/ar_actor_encoder.h"
#include "frostline/policy/ar_actor_spec.h"
#include "frostline/policy/dropout.h"
#include "frostline/policy/parameters.h"
#include "frostline/policy/transformer.h"

namespace frostline::policy {

/// `state_input_proj`, `decoder.*`, `action_head`. Names begin `model.`.
std::vector<ParameterSpec> autoregressive_parameter_specs(const ArActorSpec& spec);
/// `decoder_pos_embed`, `act_decoder.*`, `fast_head`: what pretraining trains beside the encoder.
std::vector<ParameterSpec> parallel_parameter_specs(const ArActorSpec& spec);
/// The trained half: both of the above, autoregressive first.
std::vector<ParameterSpec> expert_parameter_specs(const ArActorSpec& spec);

/// What a batch is trained on; `policy::Normaliser` makes states and actions.
struct ExpertBatch {
  at::Tensor states;   ///< Normalised. Shape: [batch, history + chunk, state_dim].
  at::Tensor valid;    ///< bool, state lies inside the episode. Shape: [batch, history + chunk].
  at::Tensor actions;  ///< Normalised. Shape: [batch, chunk, action_dim].
  at::Tensor action_is_pad;  ///< bool. Shape: [batch, chunk].
  /// bool, true = dropped; undefined = nothing dropped. Shape: [chunk, history].
  at::Tensor history_drop;
};

/// One matrix for the whole batch of step `step`, on the host.
/// Shape: bool [chunk, history]; true with `history_mask_probability`.
at::Tensor draw_history_drop(const ArActorSpec& spec, std::uint64_t seed, std::uint64_t step);

/// What the mean of the absolute error runs over.
enum class LossReduction {
  kValid,  ///< Elements that are no padding.
  kAll,    ///< All elements, padding counted as zero error, as published.
};

/// Errors: `kUsage` naming `valid` and `all`.
LossReduction loss_reduction_from(const std::string& name);
std::string name_of(LossReduction reduction);

/// Scalars with their graph; reading one waits for the device.
struct ExpertLoss {
  at::Tensor total;
  at::Tensor autoregressive;  ///< `loss_ar`
  at::Tensor parallel;        ///< `loss_fast`
};

/// Mean absolute error. No host synchronisation.
/// Shape: [batch, chunk, action_dim] twice, bool [batch, chunk] -> scalar.
at::Tensor action_loss(const at::Tensor& predicted,
                       const at::Tensor& target,
                       const at::Tensor& is_pad,
                       LossReduction reduction);

/// Predicts a chunk from the encoder's output alone. Aliases the parameters. Immutable.
class ParallelBranch {
 public:
  ParallelBranch(const ArActorSpec& spec,
                 const ParameterSet& parameters,
                 at::ScalarType dtype = at::kFloat);

  /// Shape: memory [batch, tokens, dim], position [tokens, dim] -> [batch, chunk, action_dim].
  at::Tensor forward(const at::Tensor& memory, const at::Tensor& position, Dropout& dropout) const;

 private:
  at::Tensor query_position_;
  CrossAttentionLayer layer_;
  LayerNorm norm_;
  Linear head_;
};

/// Attends to the prefix and to earlier states. Aliases the parameters. Immutable.
class AutoregressiveBranch {
 public:
  AutoregressiveBranch(const ArActorSpec& spec,
                       const ParameterSet& parameters,
                       at::ScalarType dtype = at::kFloat);

  /// Teacher-forced: an action for each state from offset 0 on.
  /// Shape: [batch, chunk, action_dim].
  at::Tensor forward(const Prefix& prefix, const ExpertBatch& batch, Dropout& dropout) const;

  const ArActorSpec& spec() const { return spec_; }

  const std::vector<SelfAttentionLayer>& layers() const { return layers_; }

  const Linear& input() const { return input_; }

  const LayerNorm& norm() const { return norm_; }

  const Linear& head() const { return head_; }

  at::ScalarType dtype() const { return dtype_; }

 private:
  ArActorSpec spec_;
  at::ScalarType dtype_;
  Linear input_;
  std::vector<SelfAttentionLayer> layers_;
  LayerNorm norm_;
  Linear head_;
  RotaryTable rotary_;  // of offsets -history..chunk-1
};

/// The trained half. Aliases the parameters: an optimiser's update is seen at once. Immutable.
class ArActorExpert {
 public:
  /// Runs on the device of `parameters`; matrix products in `dtype`, residuals and heads in fp32.
  ArActorExpert(const ArActorSpec& spec,
                const ParameterSet& parameters,
                at::ScalarType dtype = at::kFloat);

  const AutoregressiveBranch& autoregressive() const { return autoregressive_; }

  const ParallelBranch& parallel() const { return parallel_; }

  /// Gradients reach the parameters, not the prefix unless that carries a graph. No host
  /// synchronisation. Errors: `kInternal` for a shape that does not fit the spec.
  ExpertLoss loss(const Prefix& prefix,
                  const ExpertBatch& batch,
                  LossReduction reduction,
                  Dropout& dropout) const;

 private:
  AutoregressiveBranch autoregressive_;
  ParallelBranch parallel_;
};

/// Encoder and parallel branch, end to end: what `frostline pretrain` minimises.
/// Shape: image u8 [batch, height, width, 3]; `actions`, `action_is_pad` of `batch` are read.
at::Tensor pretrain_loss(const TrainableEncoder& encoder,
                         const ParallelBranch& branch,
                         const at::Tensor& image,
                         const ExpertBatch& batch,
                         LossReduction reduction,
                         Dropout& dropout);

/// `encoder_parameter_specs` followed by `parallel_parameter_specs`.
std::vector<ParameterSpec> pretrain_parameter_specs(const ArActorSpec& spec);

}  // namespace frostline::policy
