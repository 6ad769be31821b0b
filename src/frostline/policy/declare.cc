#include "frostline/policy/transformer.h"

namespace frostline::policy {

void declare_linear(std::vector<ParameterSpec>& specs,
                    const std::string& prefix,
                    std::int64_t inputs,
                    std::int64_t outputs,
                    bool is_xavier) {
  const Initialiser initialiser =
      is_xavier ? Initialiser::kXavierUniform : Initialiser::kFanInUniform;
  specs.push_back({prefix + ".weight", {outputs, inputs}, initialiser, inputs});
  specs.push_back({prefix + ".bias", {outputs}, Initialiser::kFanInUniform, inputs});
}

void declare_layer_norm(std::vector<ParameterSpec>& specs,
                        const std::string& prefix,
                        std::int64_t dim) {
  specs.push_back({prefix + ".weight", {dim}, Initialiser::kOnes});
  specs.push_back({prefix + ".bias", {dim}, Initialiser::kZeros});
}

void declare_self_attention_layer(std::vector<ParameterSpec>& specs,
                                  const std::string& prefix,
                                  std::int64_t dim,
                                  std::int64_t ffn_dim) {
  for (const char* name : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
    specs.push_back(
        {prefix + ".self_attn." + name + ".weight", {dim, dim}, Initialiser::kXavierUniform});
  }
  declare_layer_norm(specs, prefix + ".norm1", dim);
  declare_layer_norm(specs, prefix + ".norm2", dim);
  declare_linear(specs, prefix + ".linear1", dim, ffn_dim, true);
  declare_linear(specs, prefix + ".linear2", ffn_dim, dim, true);
}

void declare_cross_attention_layer(std::vector<ParameterSpec>& specs,
                                   const std::string& prefix,
                                   std::int64_t dim,
                                   std::int64_t ffn_dim) {
  for (const char* name : {".self_attn", ".multihead_attn"}) {
    const std::string attention = prefix + name;
    specs.push_back({attention + ".in_proj_weight", {3 * dim, dim}, Initialiser::kXavierUniform});
    specs.push_back({attention + ".in_proj_bias", {3 * dim}, Initialiser::kZeros});
    specs.push_back({attention + ".out_proj.weight", {dim, dim}, Initialiser::kFanInUniform, dim});
    specs.push_back({attention + ".out_proj.bias", {dim}, Initialiser::kZeros});
  }
  declare_linear(specs, prefix + ".linear1", dim, ffn_dim);
  declare_linear(specs, prefix + ".linear2", ffn_dim, dim);
  for (const char* name : {".norm1", ".norm2", ".norm3"}) {
    declare_layer_norm(specs, prefix + name, dim);
  }
}

}  // namespace frostline::policy
