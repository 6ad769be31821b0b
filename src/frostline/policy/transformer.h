#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "frostline/policy/dropout.h"
#include "frostline/policy/parameters.h"

namespace frostline::policy {

/// y = x W^T + b in the element type of x; `bias` may be undefined.
struct Linear {
  at::Tensor weight;
  at::Tensor bias;

  at::Tensor operator()(const at::Tensor& x) const;
};

/// Over the last dimension, epsilon 1e-5.
struct LayerNorm {
  at::Tensor weight;
  at::Tensor bias;

  at::Tensor operator()(const at::Tensor& x) const;
};

/// [batch, n, dim] -> [batch, heads, n, dim / heads].
at::Tensor split_heads(const at::Tensor& x, std::int64_t num_heads);
/// Inverse of `split_heads`.
at::Tensor merge_heads(const at::Tensor& x);

/// softmax(q k^T / sqrt(head_dim)) v. `mask` is bool, true = visible, or undefined; every row must
/// see a key.
at::Tensor attention(const at::Tensor& query,
                     const at::Tensor& key,
                     const at::Tensor& value,
                     const at::Tensor& mask,
                     Dropout& dropout);

/// Pre-norm layer without biases in attention: of the encoder, and of the expert, which appends the
/// prefix to keys and values.
struct SelfAttentionLayer {
  std::int64_t num_heads = 1;
  at::ScalarType dtype = at::kFloat;  ///< Of matrix products and attention.
  Linear query, key, value, out;
  LayerNorm norm1, norm2;
  Linear linear1, linear2;

  /// `prefix` such as `model.encoder.layers.0`; aliases the parameters.
  SelfAttentionLayer(const ParameterSet& parameters,
                     const std::string& prefix,
                     std::int64_t heads,
                     at::ScalarType compute_dtype);
  /// Without gradients, in `compute_dtype`. Copies.
  SelfAttentionLayer frozen(at::ScalarType compute_dtype) const;
  /// Encoder layer: `position` is added to the inputs of query and key.
  at::Tensor encode(const at::Tensor& x, const at::Tensor& position, Dropout& dropout) const;
  /// What follows attention: output projection, residual, feed-forward. `attended` is merged.
  at::Tensor finish(const at::Tensor& x, const at::Tensor& attended, Dropout& dropout) const;
};

/// Post-norm decoder layer of ACT.
struct CrossAttentionLayer {
  /// torch's multi-head attention with one packed input projection.
  struct Attention {
    at::Tensor in_weight, in_bias;
    Linear out;

    at::Tensor operator()(const at::Tensor& query,
                          const at::Tensor& key,
                          const at::Tensor& value,
                          std::int64_t heads,
                          Dropout& dropout) const;
  };

  std::int64_t num_heads = 1;
  at::ScalarType dtype = at::kFloat;
  Attention self, cross;
  LayerNorm norm1, norm2, norm3;
  Linear linear1, linear2;

  CrossAttentionLayer(const ParameterSet& parameters,
                      const std::string& prefix,
                      std::int64_t heads,
                      at::ScalarType compute_dtype);
  at::Tensor forward(const at::Tensor& query_position,
                     const at::Tensor& memory,
                     const at::Tensor& memory_position,
                     Dropout& dropout) const;
};

/// 2D sine table. Shape: [high * wide, dim], row-major; channels are [dim/2 of y, dim/2 of x].
/// Source: LeRobot ACT: index 1..n scaled by 2 pi / (n + 1e-6), divisor 10000^(2
/// floor(j/2)/(dim/2)).
at::Tensor sine_position_2d(std::int64_t high, std::int64_t wide, std::int64_t dim);

/// Cosines and sines of rotary positions. Shape: [n, head_dim / 2] each.
struct RotaryTable {
  at::Tensor cosine;
  at::Tensor sine;
};

/// Positions first, first + 1, … Base 10000.
RotaryTable rotary_table(std::int64_t first,
                         std::int64_t n,
                         std::int64_t head_dim,
                         at::Device device);
/// Rotates first half against second half. Shape: x [.., n, head_dim].
at::Tensor rotate(const at::Tensor& x, const RotaryTable& table);

/// Declarations of one layer's tensors, appended to `specs`.
void declare_self_attention_layer(std::vector<ParameterSpec>& specs,
                                  const std::string& prefix,
                                  std::int64_t dim,
                                  std::int64_t ffn_dim);
void declare_cross_attention_layer(std::vector<ParameterSpec>& specs,
                                   const std::string& prefix,
                                   std::int64_t dim,
                                   std::int64_t ffn_dim);
/// `is_xavier` chooses the weight's distribution; the bias is uniform by fan-in.
void declare_linear(std::vector<ParameterSpec>& specs,
                    const std::string& prefix,
                    std::int64_t inputs,
                    std::int64_t outputs,
                    bool is_xavier = false);
void declare_layer_norm(std::vector<ParameterSpec>& specs,
                        const std::string& prefix,
                        std::int64_t dim);

}  // namespace frostline::policy
