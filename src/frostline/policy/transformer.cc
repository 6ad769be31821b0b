#include "frostline/policy/transformer.h"

#include <cmath>
#include <numbers>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

namespace frostline::policy {
namespace {

constexpr double kLayerNormEpsilon = 1e-5;
constexpr double kRotaryBase = 10000.0;

Linear linear_from(const ParameterSet& parameters, const std::string& name, bool has_bias) {
  return {parameters.at(name + ".weight"), has_bias ? parameters.at(name + ".bias") : at::Tensor()};
}

LayerNorm norm_from(const ParameterSet& parameters, const std::string& name) {
  return {parameters.at(name + ".weight"), parameters.at(name + ".bias")};
}

at::Tensor frozen_copy(const at::Tensor& x, at::ScalarType dtype) {
  return x.defined() ? x.detach().to(dtype, /*non_blocking=*/false, /*copy=*/true) : x;
}

Linear frozen_copy(const Linear& x, at::ScalarType dtype) {
  return {frozen_copy(x.weight, dtype), frozen_copy(x.bias, dtype)};
}

LayerNorm frozen_copy(const LayerNorm& x, at::ScalarType dtype) {
  return {frozen_copy(x.weight, dtype), frozen_copy(x.bias, dtype)};
}

at::Tensor feed_forward(const Linear& linear1,
                        const Linear& linear2,
                        const at::Tensor& x,
                        Dropout& dropout) {
  return dropout(linear2(dropout(at::relu(linear1(x)))));
}

}  // namespace

at::Tensor Linear::operator()(const at::Tensor& x) const {
  return at::linear(
      x, weight.to(x.scalar_type()), bias.defined() ? bias.to(x.scalar_type()) : bias);
}

at::Tensor LayerNorm::operator()(const at::Tensor& x) const {
  return at::layer_norm(
      x, weight.sizes(), weight.to(x.scalar_type()), bias.to(x.scalar_type()), kLayerNormEpsilon);
}

at::Tensor split_heads(const at::Tensor& x, std::int64_t num_heads) {
  return x.unflatten(-1, {num_heads, x.size(-1) / num_heads}).transpose(1, 2);
}

at::Tensor merge_heads(const at::Tensor& x) {
  return x.transpose(1, 2).flatten(2);
}

at::Tensor attention(const at::Tensor& query,
                     const at::Tensor& key,
                     const at::Tensor& value,
                     const at::Tensor& mask,
                     Dropout& dropout) {
  const bool is_fused = !dropout.is_on() || dropout.uses_device_generator();
  const std::optional<at::Tensor> mask_if_any = mask.defined() ? std::optional(mask) : std::nullopt;
  if (is_fused) {
    return at::scaled_dot_product_attention(
        query, key, value, mask_if_any, dropout.is_on() ? dropout.probability() : 0.0);
  }
  const double scale = 1.0 / std::sqrt(static_cast<double>(query.size(-1)));
  at::Tensor scores = at::matmul(query * scale, key.transpose(-2, -1));
  if (mask.defined()) {
    scores = scores.masked_fill(mask.logical_not(), -INFINITY);
  }
  return at::matmul(dropout(at::softmax(scores, -1)), value);
}

SelfAttentionLayer::SelfAttentionLayer(const ParameterSet& parameters,
                                       const std::string& prefix,
                                       std::int64_t heads,
                                       at::ScalarType compute_dtype)
    : num_heads(heads),
      dtype(compute_dtype),
      query(linear_from(parameters, prefix + ".self_attn.q_proj", false)),
      key(linear_from(parameters, prefix + ".self_attn.k_proj", false)),
      value(linear_from(parameters, prefix + ".self_attn.v_proj", false)),
      out(linear_from(parameters, prefix + ".self_attn.out_proj", false)),
      norm1(norm_from(parameters, prefix + ".norm1")),
      norm2(norm_from(parameters, prefix + ".norm2")),
      linear1(linear_from(parameters, prefix + ".linear1", true)),
      linear2(linear_from(parameters, prefix + ".linear2", true)) {}

SelfAttentionLayer SelfAttentionLayer::frozen(at::ScalarType compute_dtype) const {
  SelfAttentionLayer copy = *this;
  copy.dtype = compute_dtype;
  for (Linear* linear :
       {&copy.query, &copy.key, &copy.value, &copy.out, &copy.linear1, &copy.linear2}) {
    *linear = frozen_copy(*linear, compute_dtype);
  }
  copy.norm1 = frozen_copy(norm1, compute_dtype);
  copy.norm2 = frozen_copy(norm2, compute_dtype);
  return copy;
}

at::Tensor SelfAttentionLayer::encode(const at::Tensor& x,
                                      const at::Tensor& position,
                                      Dropout& dropout) const {
  const at::Tensor h = norm1(x).to(dtype);
  const at::Tensor located = h + position.to(dtype);
  const at::Tensor attended = attention(split_heads(query(located), num_heads),
                                        split_heads(key(located), num_heads),
                                        split_heads(value(h), num_heads),
                                        {},
                                        dropout);
  return finish(x, merge_heads(attended), dropout);
}

at::Tensor SelfAttentionLayer::finish(const at::Tensor& x,
                                      const at::Tensor& attended,
                                      Dropout& dropout) const {
  const at::Tensor y = x + dropout(out(attended)).to(x.scalar_type());
  return y + feed_forward(linear1, linear2, norm2(y).to(dtype), dropout).to(x.scalar_type());
}

at::Tensor CrossAttentionLayer::Attention::operator()(const at::Tensor& query,
                                                      const at::Tensor& key,
                                                      const at::Tensor& value,
                                                      std::int64_t heads,
                                                      Dropout& dropout) const {
  const std::vector<at::Tensor> weights = in_weight.to(query.scalar_type()).chunk(3);
  const std::vector<at::Tensor> biases = in_bias.to(query.scalar_type()).chunk(3);
  const at::Tensor attended =
      attention(split_heads(at::linear(query, weights[0], biases[0]), heads),
                split_heads(at::linear(key, weights[1], biases[1]), heads),
                split_heads(at::linear(value, weights[2], biases[2]), heads),
                {},
                dropout);
  return out(merge_heads(attended));
}

CrossAttentionLayer::CrossAttentionLayer(const ParameterSet& parameters,
                                         const std::string& prefix,
                                         std::int64_t heads,
                                         at::ScalarType compute_dtype)
    : num_heads(heads),
      dtype(compute_dtype),
      self{parameters.at(prefix + ".self_attn.in_proj_weight"),
           parameters.at(prefix + ".self_attn.in_proj_bias"),
           linear_from(parameters, prefix + ".self_attn.out_proj", true)},
      cross{parameters.at(prefix + ".multihead_attn.in_proj_weight"),
            parameters.at(prefix + ".multihead_attn.in_proj_bias"),
            linear_from(parameters, prefix + ".multihead_attn.out_proj", true)},
      norm1(norm_from(parameters, prefix + ".norm1")),
      norm2(norm_from(parameters, prefix + ".norm2")),
      norm3(norm_from(parameters, prefix + ".norm3")),
      linear1(linear_from(parameters, prefix + ".linear1", true)),
      linear2(linear_from(parameters, prefix + ".linear2", true)) {}

at::Tensor CrossAttentionLayer::forward(const at::Tensor& query_position,
                                        const at::Tensor& memory,
                                        const at::Tensor& memory_position,
                                        Dropout& dropout) const {
  // The queries start at zero, so that self-attention sees the learned positions alone; values are
  // zero and only the projection's bias remains.
  const std::int64_t batch = memory.size(0);
  const at::Tensor position = query_position.unsqueeze(0).expand({batch, -1, -1});
  at::Tensor x = at::zeros(position.sizes(), query_position.options().requires_grad(false));
  at::Tensor located = (x + position).to(dtype);
  x = norm1(x + dropout(self(located, located, x.to(dtype), num_heads, dropout)).to(at::kFloat));
  located = (x + position).to(dtype);
  const at::Tensor source = memory.to(dtype);
  const at::Tensor located_source = source + memory_position.to(dtype);
  x = norm2(x + dropout(cross(located, located_source, source, num_heads, dropout)).to(at::kFloat));
  return norm3(x + feed_forward(linear1, linear2, x.to(dtype), dropout).to(at::kFloat));
}

at::Tensor sine_position_2d(std::int64_t high, std::int64_t wide, std::int64_t dim) {
  const std::int64_t half = dim / 2;
  at::Tensor table = at::empty({high * wide, dim}, at::kFloat);
  const auto channel = [half](std::int64_t index, std::int64_t n, std::int64_t j) {
    const double angle =
        static_cast<double>(index + 1) / (static_cast<double>(n) + 1e-6) * 2.0 * std::numbers::pi;
    const double exponent = 2.0 * static_cast<double>(j / 2) / static_cast<double>(half);
    const double scaled = angle / std::pow(kRotaryBase, exponent);
    return static_cast<float>(j % 2 == 0 ? std::sin(scaled) : std::cos(scaled));
  };
  float* values = table.mutable_data_ptr<float>();
  for (std::int64_t row = 0; row < high; ++row) {
    for (std::int64_t column = 0; column < wide; ++column) {
      for (std::int64_t j = 0; j < half; ++j) {
        values[j] = channel(row, high, j);
        values[half + j] = channel(column, wide, j);
      }
      values += dim;
    }
  }
  return table;
}

RotaryTable rotary_table(std::int64_t first,
                         std::int64_t n,
                         std::int64_t head_dim,
                         at::Device device) {
  const std::int64_t half = head_dim / 2;
  RotaryTable table{at::empty({n, half}, at::kFloat), at::empty({n, half}, at::kFloat)};
  float* cosine = table.cosine.mutable_data_ptr<float>();
  float* sine = table.sine.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < half; ++j) {
      const double angle =
          static_cast<double>(first + i) *
          std::pow(kRotaryBase, -static_cast<double>(j) / static_cast<double>(half));
      *cosine++ = static_cast<float>(std::cos(angle));
      *sine++ = static_cast<float>(std::sin(angle));
    }
  }
  return {table.cosine.to(device), table.sine.to(device)};
}

at::Tensor rotate(const at::Tensor& x, const RotaryTable& table) {
  const std::int64_t half = x.size(-1) / 2;
  const at::Tensor first = x.narrow(-1, 0, half);
  const at::Tensor second = x.narrow(-1, half, half);
  const at::Tensor cosine = table.cosine.to(x.scalar_type());
  const at::Tensor sine = table.sine.to(x.scalar_type());
  return at::cat({first * cosine - second * sine, second * cosine + first * sine}, -1);
}

}  // namespace frostline::policy
