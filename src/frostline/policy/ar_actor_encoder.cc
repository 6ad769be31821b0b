#include "frostline/policy/ar_actor_encoder.h"

#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/conv2d.h>
#include <fmt/format.h>

#include "frostline/core/error.h"

namespace frostline::policy {
namespace {

std::string layer_name(std::int64_t index) {
  return fmt::format("model.encoder.layers.{}", index);
}

std::vector<SelfAttentionLayer> layers_from(const ArActorSpec& spec,
                                            const ParameterSet& parameters,
                                            at::ScalarType dtype) {
  std::vector<SelfAttentionLayer> layers;
  for (std::int64_t i = 0; i < spec.num_encoder_layers; ++i) {
    layers.emplace_back(parameters, layer_name(i), spec.num_heads, dtype);
  }
  return layers;
}

at::Tensor position_of(const ArActorSpec& spec, at::Device device) {
  return sine_position_2d(spec.tokens_high(), spec.tokens_wide(), spec.dim).to(device);
}

at::Tensor to_tokens(const at::Tensor& map) {
  return map.flatten(2).transpose(1, 2).contiguous();
}

void require_image(const ArActorSpec& spec, const at::Tensor& image) {
  const bool fits = image.dim() == 4 && image.scalar_type() == at::kByte &&
                    image.size(1) == spec.image_height_px && image.size(2) == spec.image_width_px &&
                    image.size(3) == 3;
  FROSTLINE_REQUIRE(
      fits,
      ErrorCode::kData,
      "image does not fit the policy",
      fmt::format("expected=u8 [batch, {}, {}, 3] found={} {} camera={} ; use the camera and size "
                  "that the policy was trained on",
                  spec.image_height_px,
                  spec.image_width_px,
                  c10::toString(image.scalar_type()),
                  to_string(image.sizes().vec()),
                  spec.camera));
}

Prefix prefix_of(const std::vector<SelfAttentionLayer>& layers,
                 const std::vector<at::Tensor>& x,
                 const at::Tensor& position) {
  FROSTLINE_CHECK(x.size() == layers.size() + 1);
  const at::NoGradGuard no_grad;
  Prefix prefix;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const SelfAttentionLayer& layer = layers[i];
    const at::Tensor h = layer.norm1(x[i]).to(layer.dtype);
    prefix.keys.push_back(split_heads(layer.key(h + position.to(layer.dtype)), layer.num_heads));
    prefix.values.push_back(split_heads(layer.value(h), layer.num_heads));
  }
  prefix.memory = x.back().detach();
  prefix.position = position;
  return prefix;
}

}  // namespace

std::vector<ParameterSpec> encoder_parameter_specs(const ArActorSpec& spec) {
  std::vector<ParameterSpec> specs;
  declare_resnet18(specs, "model.backbone", spec.backbone_width);
  const std::int64_t channels = 8 * spec.backbone_width;
  specs.push_back({"model.encoder_img_feat_input_proj.weight",
                   {spec.dim, channels, 1, 1},
                   Initialiser::kFanInUniform,
                   channels});
  specs.push_back(
      {"model.encoder_img_feat_input_proj.bias", {spec.dim}, Initialiser::kFanInUniform, channels});
  for (std::int64_t i = 0; i < spec.num_encoder_layers; ++i) {
    declare_self_attention_layer(specs, layer_name(i), spec.dim, spec.ffn_dim);
  }
  declare_linear(specs, "model.encoder_latent_input_proj", spec.latent_dim, spec.dim);
  specs.push_back(
      {"model.encoder_1d_feature_pos_embed.weight", {1, spec.dim}, Initialiser::kStandardNormal});
  return specs;
}

at::Tensor preprocess_image(const at::Tensor& image, at::ScalarType dtype) {
  // Scalars, no constant tensors: a copy from the host could not be captured in a CUDA graph.
  at::Tensor x = image.permute({0, 3, 1, 2}).to(at::kFloat);
  for (std::int64_t channel = 0; channel < 3; ++channel) {
    const auto i = static_cast<std::size_t>(channel);
    x.select(1, channel).mul_(1.0 / (255.0 * kImageStd[i])).sub_(kImageMean[i] / kImageStd[i]);
  }
  return x.to(dtype);
}

ArActorEncoder::ArActorEncoder(const ArActorSpec& spec,
                               const ParameterSet& parameters,
                               at::ScalarType dtype)
    : spec_(spec),
      dtype_(dtype),
      backbone_(ResNet(parameters, "model.backbone"), dtype),
      projection_weight_(parameters.at("model.encoder_img_feat_input_proj.weight")
                             .detach()
                             .to(dtype, false, true)
                             .contiguous(at::MemoryFormat::ChannelsLast)),
      projection_bias_(
          parameters.at("model.encoder_img_feat_input_proj.bias").detach().to(dtype, false, true)),
      position_(position_of(spec, parameters.device()).to(dtype)) {
  for (const SelfAttentionLayer& layer : layers_from(spec, parameters, dtype)) {
    layers_.push_back(layer.frozen(dtype));
  }
}

std::vector<at::Tensor> ArActorEncoder::encode(const at::Tensor& image,
                                               std::int64_t boundary) const {
  const std::int64_t last = boundary < 0 ? spec_.num_encoder_layers : boundary;
  FROSTLINE_REQUIRE(last <= spec_.num_encoder_layers,
                    ErrorCode::kUsage,
                    "boundary lies behind the last encoder layer",
                    fmt::format("boundary=L{} layers={} ; use L0..L{}",
                                boundary,
                                spec_.num_encoder_layers,
                                spec_.num_encoder_layers));
  require_image(spec_, image);
  const at::NoGradGuard no_grad;
  Dropout off;
  const at::Tensor map = backbone_.forward(preprocess_image(image, dtype_));
  std::vector<at::Tensor> x{to_tokens(at::conv2d(map, projection_weight_, projection_bias_))};
  for (std::int64_t i = 0; i < last; ++i) {
    x.push_back(layers_[static_cast<std::size_t>(i)].encode(x.back(), position_, off));
  }
  return x;
}

std::vector<at::Tensor> ArActorEncoder::encode_from(std::vector<at::Tensor> x) const {
  FROSTLINE_CHECK(!x.empty() && x.size() <= layers_.size() + 1);
  const at::NoGradGuard no_grad;
  Dropout off;
  for (at::Tensor& tensor : x) {
    tensor = tensor.to(position_.device(), dtype_);
  }
  for (std::size_t i = x.size() - 1; i < layers_.size(); ++i) {
    x.push_back(layers_[i].encode(x.back(), position_, off));
  }
  return x;
}

Prefix ArActorEncoder::prefix(const std::vector<at::Tensor>& x) const {
  return prefix_of(layers_, x, position_);
}

TrainableEncoder::TrainableEncoder(const ArActorSpec& spec,
                                   const ParameterSet& parameters,
                                   at::ScalarType dtype)
    : spec_(spec),
      dtype_(dtype),
      backbone_(parameters, "model.backbone"),
      projection_weight_(parameters.at("model.encoder_img_feat_input_proj.weight")),
      projection_bias_(parameters.at("model.encoder_img_feat_input_proj.bias")),
      layers_(layers_from(spec, parameters, dtype)),
      position_(position_of(spec, parameters.device())) {}

std::vector<at::Tensor> TrainableEncoder::forward(const at::Tensor& image,
                                                  BatchNormMode mode,
                                                  Dropout& dropout,
                                                  double momentum) const {
  require_image(spec_, image);
  const at::Tensor map = backbone_.forward(
      preprocess_image(image, dtype_), mode == BatchNormMode::kBatchStatistics, momentum);
  const at::Tensor projected =
      at::conv2d(map, projection_weight_.to(dtype_), projection_bias_.to(dtype_));
  std::vector<at::Tensor> x{to_tokens(projected).to(at::kFloat)};
  for (const SelfAttentionLayer& layer : layers_) {
    x.push_back(layer.encode(x.back(), position_, dropout));
  }
  return x;
}

Prefix TrainableEncoder::prefix(const std::vector<at::Tensor>& x) const {
  return prefix_of(layers_, x, position_);
}

void TrainableEncoder::accumulate_statistics(const at::Tensor& image,
                                             std::int64_t batch_index) const {
  require_image(spec_, image);
  const at::NoGradGuard no_grad;
  backbone_.forward(preprocess_image(image, dtype_),
                    /*is_training=*/true,
                    1.0 / static_cast<double>(batch_index + 1));
}

}  // namespace frostline::policy
