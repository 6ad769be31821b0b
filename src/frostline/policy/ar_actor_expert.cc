#include "frostline/policy/ar_actor_expert.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/ones.h>
#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/core/random.h"

namespace frostline::policy {
namespace {

// Which keys a state's row may see. Rows before offset 0 see earlier states alone; rows from 0 on
// see the whole prefix, what was not dropped of the history, and earlier states of the chunk.
struct StateMasks {
  at::Tensor history;          // [batch, 1, history, history]; a padded row sees itself
  at::Tensor history_visible;  // [batch, 1, history, 1]: false = nothing to see, output is zero
  at::Tensor chunk;            // [batch, 1, chunk, tokens + history + chunk]
};

StateMasks state_masks(const ArActorSpec& spec, const ExpertBatch& batch, std::int64_t tokens) {
  const std::int64_t history = spec.history;
  const std::int64_t chunk = spec.chunk;
  const at::Tensor& valid = batch.valid;
  const at::TensorOptions options = at::TensorOptions().dtype(at::kBool).device(valid.device());
  const auto causal = [&](std::int64_t n) { return at::ones({n, n}, options).tril(); };
  StateMasks masks;
  const std::int64_t num = valid.size(0);
  const at::Tensor valid_history = valid.narrow(1, 0, history).unsqueeze(1);
  const at::Tensor valid_chunk = valid.narrow(1, history, chunk).unsqueeze(1);
  const at::Tensor visible = causal(history) & valid_history;
  const at::Tensor any = visible.any(-1, /*keepdim=*/true);
  masks.history = (visible | (at::eye(history, options) & any.logical_not())).unsqueeze(1);
  masks.history_visible = any.unsqueeze(1);
  at::Tensor of_history = valid_history.expand({num, chunk, history});
  if (batch.history_drop.defined()) {
    of_history = of_history & batch.history_drop.logical_not();
  }
  masks.chunk =
      at::cat({at::ones({num, chunk, tokens}, options), of_history, causal(chunk) & valid_chunk},
              -1)
          .unsqueeze(1);
  return masks;
}

std::string layer_name(std::int64_t index) {
  return fmt::format("model.decoder.layers.{}", index);
}

Linear linear_at(const ParameterSet& parameters, const std::string& name) {
  return {parameters.at(name + ".weight"), parameters.at(name + ".bias")};
}

LayerNorm norm_at(const ParameterSet& parameters, const std::string& name) {
  return {parameters.at(name + ".weight"), parameters.at(name + ".bias")};
}

void append(std::vector<ParameterSpec>& to, std::vector<ParameterSpec> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

std::vector<ParameterSpec> autoregressive_parameter_specs(const ArActorSpec& spec) {
  std::vector<ParameterSpec> specs;
  declare_linear(specs, "model.state_input_proj", spec.state_dim, spec.dim);
  for (std::int64_t i = 0; i < spec.num_decoder_layers; ++i) {
    declare_self_attention_layer(specs, layer_name(i), spec.dim, spec.ffn_dim);
  }
  declare_layer_norm(specs, "model.decoder.norm", spec.dim);
  declare_linear(specs, "model.action_head", spec.dim, spec.action_dim);
  return specs;
}

std::vector<ParameterSpec> parallel_parameter_specs(const ArActorSpec& spec) {
  std::vector<ParameterSpec> specs;
  specs.push_back(
      {"model.decoder_pos_embed.weight", {spec.chunk, spec.dim}, Initialiser::kStandardNormal});
  declare_cross_attention_layer(specs, "model.act_decoder.layers.0", spec.dim, spec.ffn_dim);
  declare_layer_norm(specs, "model.act_decoder.norm", spec.dim);
  declare_linear(specs, "model.fast_head", spec.dim, spec.action_dim);
  return specs;
}

std::vector<ParameterSpec> expert_parameter_specs(const ArActorSpec& spec) {
  std::vector<ParameterSpec> specs = autoregressive_parameter_specs(spec);
  append(specs, parallel_parameter_specs(spec));
  return specs;
}

std::vector<ParameterSpec> pretrain_parameter_specs(const ArActorSpec& spec) {
  std::vector<ParameterSpec> specs = encoder_parameter_specs(spec);
  append(specs, parallel_parameter_specs(spec));
  return specs;
}

at::Tensor draw_history_drop(const ArActorSpec& spec, std::uint64_t seed, std::uint64_t step) {
  at::Tensor drop = at::empty({spec.chunk, spec.history}, at::kBool);
  Random random(seed, RandomStream::kHistoryMask, step);
  bool* values = drop.mutable_data_ptr<bool>();
  for (std::int64_t i = 0; i < drop.numel(); ++i) {
    values[i] = random.next_double() < spec.history_mask_probability;
  }
  return drop;
}

LossReduction loss_reduction_from(const std::string& name) {
  if (name == "valid") {
    return LossReduction::kValid;
  }
  if (name == "all") {
    return LossReduction::kAll;
  }
  throw Error(ErrorCode::kUsage,
              "unknown loss reduction",
              fmt::format("found={} ; use valid or all", name));
}

std::string name_of(LossReduction reduction) {
  return reduction == LossReduction::kValid ? "valid" : "all";
}

at::Tensor action_loss(const at::Tensor& predicted,
                       const at::Tensor& target,
                       const at::Tensor& is_pad,
                       LossReduction reduction) {
  FROSTLINE_CHECK(predicted.sizes() == target.sizes());
  const at::Tensor counted = is_pad.logical_not().unsqueeze(-1).to(at::kFloat);
  const at::Tensor error = (predicted - target).abs() * counted;
  if (reduction == LossReduction::kAll) {
    return error.mean();
  }
  return error.sum() / (counted.sum() * static_cast<double>(target.size(-1))).clamp_min(1.0);
}

ParallelBranch::ParallelBranch(const ArActorSpec& spec,
                               const ParameterSet& parameters,
                               at::ScalarType dtype)
    : query_position_(parameters.at("model.decoder_pos_embed.weight")),
      layer_(parameters, "model.act_decoder.layers.0", spec.num_heads, dtype),
      norm_(norm_at(parameters, "model.act_decoder.norm")),
      head_(linear_at(parameters, "model.fast_head")) {}

at::Tensor ParallelBranch::forward(const at::Tensor& memory,
                                   const at::Tensor& position,
                                   Dropout& dropout) const {
  return head_(norm_(layer_.forward(query_position_, memory, position, dropout)));
}

AutoregressiveBranch::AutoregressiveBranch(const ArActorSpec& spec,
                                           const ParameterSet& parameters,
                                           at::ScalarType dtype)
    : spec_(spec),
      dtype_(dtype),
      input_(linear_at(parameters, "model.state_input_proj")),
      norm_(norm_at(parameters, "model.decoder.norm")),
      head_(linear_at(parameters, "model.action_head")),
      rotary_(rotary_table(-spec.history,
                           spec.history + spec.chunk,
                           spec.dim / spec.num_heads,
                           parameters.device())) {
  for (std::int64_t i = 0; i < spec.num_decoder_layers; ++i) {
    layers_.emplace_back(parameters, layer_name(i), spec.num_heads, dtype);
  }
}

at::Tensor AutoregressiveBranch::forward(const Prefix& prefix,
                                         const ExpertBatch& batch,
                                         Dropout& dropout) const {
  const std::int64_t history = spec_.history;
  const std::int64_t chunk = spec_.chunk;
  FROSTLINE_CHECK(prefix.keys.size() >= layers_.size());
  FROSTLINE_CHECK(batch.states.dim() == 3 && batch.states.size(1) == history + chunk);
  FROSTLINE_CHECK(batch.states.size(2) == spec_.state_dim);
  const StateMasks masks = state_masks(spec_, batch, prefix.keys.front().size(2));
  at::Tensor x = input_(batch.states.to(at::kFloat));
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const SelfAttentionLayer& layer = layers_[i];
    const at::Tensor h = layer.norm1(x).to(dtype_);
    const at::Tensor query = rotate(split_heads(layer.query(h), layer.num_heads), rotary_);
    const at::Tensor key = rotate(split_heads(layer.key(h), layer.num_heads), rotary_);
    const at::Tensor value = split_heads(layer.value(h), layer.num_heads);
    at::Tensor attended = attention(query.narrow(2, history, chunk),
                                    at::cat({prefix.keys[i].to(dtype_), key}, 2),
                                    at::cat({prefix.values[i].to(dtype_), value}, 2),
                                    masks.chunk,
                                    dropout);
    // Nothing reads the history's rows of the last layer.
    if (i + 1 == layers_.size()) {
      x = x.narrow(1, history, chunk);
    } else if (history > 0) {
      const at::Tensor earlier = attention(query.narrow(2, 0, history),
                                           key.narrow(2, 0, history),
                                           value.narrow(2, 0, history),
                                           masks.history,
                                           dropout);
      attended = at::cat({earlier * masks.history_visible, attended}, 2);
    }
    x = layer.finish(x, merge_heads(attended), dropout);
  }
  return head_(norm_(x));
}

ArActorExpert::ArActorExpert(const ArActorSpec& spec,
                             const ParameterSet& parameters,
                             at::ScalarType dtype)
    : autoregressive_(spec, parameters, dtype), parallel_(spec, parameters, dtype) {}

ExpertLoss ArActorExpert::loss(const Prefix& prefix,
                               const ExpertBatch& batch,
                               LossReduction reduction,
                               Dropout& dropout) const {
  ExpertLoss loss;
  loss.autoregressive = action_loss(autoregressive_.forward(prefix, batch, dropout),
                                    batch.actions,
                                    batch.action_is_pad,
                                    reduction);
  loss.parallel = action_loss(parallel_.forward(prefix.memory, prefix.position, dropout),
                              batch.actions,
                              batch.action_is_pad,
                              reduction);
  loss.total = loss.autoregressive + loss.parallel;
  return loss;
}

at::Tensor pretrain_loss(const TrainableEncoder& encoder,
                         const ParallelBranch& branch,
                         const at::Tensor& image,
                         const ExpertBatch& batch,
                         LossReduction reduction,
                         Dropout& dropout) {
  const std::vector<at::Tensor> x =
      encoder.forward(image, BatchNormMode::kBatchStatistics, dropout);
  return action_loss(branch.forward(x.back(), encoder.position(), dropout),
                     batch.actions,
                     batch.action_is_pad,
                     reduction);
}

}  // namespace frostline::policy
