#include "frostline/split/encoder_graph.h"

#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "frostline/graph/builder.h"
#include "frostline/split/boundary.h"
#include "frostline/split/encoder_weights.h"

namespace frostline::split {

namespace {

using graph::Builder;
using graph::Op;

constexpr float kLayerNormEpsilon = 1e-5F;

/// Appends the stages of one encoder to a builder.
class Stages {
 public:
  Stages(const policy::ArActorSpec& spec, const NamedTensors& weights, Builder& builder)
      : spec_(spec), weights_(weights), builder_(builder) {}

  std::string normalised_image(const std::string& image) {
    // Source: ImageNet's channel statistics as torchvision's ResNet18 expects them.
    constexpr std::array<float, 3> kMean{0.485F, 0.456F, 0.406F};
    constexpr std::array<float, 3> kStd{0.229F, 0.224F, 0.225F};
    std::array<float, 3> scale{};
    std::array<float, 3> shift{};
    for (std::size_t c = 0; c < 3; ++c) {
      scale.at(c) = 1.0F / (255.0F * kStd.at(c));
      shift.at(c) = -kMean.at(c) / kStd.at(c);
    }
    builder_.node(Op::kCast, "image/f32", {image}, {{"to", std::int64_t{1}}});
    builder_.node(
        Op::kMul, "image/scaled", {"image/f32", builder_.constant("image/scale", {3}, scale)});
    builder_.node(Op::kAdd,
                  "image/normalised",
                  {"image/scaled", builder_.constant("image/shift", {3}, shift)});
    return builder_.transpose("image/nchw", "image/normalised", {0, 3, 1, 2});
  }

  /// ResNet18 up to its last stage.
  std::string backbone(const std::string& image) {
    const std::int64_t width = spec_.backbone_width;
    std::string x = convolution("backbone.conv1", "backbone.bn1", image, {width, 3, 7, 7}, 2);
    x = builder_.node(Op::kRelu, "backbone.relu", {x});
    x = builder_.node(Op::kMaxPool,
                      "backbone.maxpool",
                      {x},
                      {{"kernel_shape", std::vector<std::int64_t>{3, 3}},
                       {"strides", std::vector<std::int64_t>{2, 2}},
                       {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
    std::int64_t channels = width;
    for (int stage = 0; stage < 4; ++stage) {
      const std::int64_t out = width << stage;
      for (int block = 0; block < 2; ++block) {
        const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
        x = basic_block(
            fmt::format("backbone.layer{}.{}", stage + 1, block), x, channels, out, stride);
        channels = out;
      }
    }
    return x;
  }

  /// 1x1 convolution to the model's width, then tokens row by row: x_0.
  std::string projection(const std::string& map) {
    const std::string name = "encoder_img_feat_input_proj";
    const Shape shape{spec_.dim, spec_.backbone_width * 8, 1, 1};
    const std::string weight =
        builder_.constant(name + ".weight", weights_.get(name + ".weight", shape));
    const std::string bias =
        builder_.constant(name + ".bias", weights_.get(name + ".bias", {spec_.dim}));
    const std::string projected = builder_.conv(name, map, weight, bias, 1, 0);
    const std::string flat =
        builder_.reshape(name + "/flat", projected, {0, spec_.dim, spec_.num_tokens()});
    return builder_.transpose(boundary_tensor(0), flat, {0, 2, 1});
  }

  /// Pre-norm encoder layer; returns its output x_<index + 1>.
  std::string layer(int index, const std::string& x) {
    const std::string prefix = fmt::format("encoder.layers.{}", index);
    const std::string h = norm(prefix + ".norm1", x);
    const std::string position = builder_.constant(
        "position", sine_position(spec_.tokens_high(), spec_.tokens_wide(), spec_.dim));
    const std::string placed = builder_.node(Op::kAdd, prefix + "/placed", {h, position});
    const std::string attended = attention(prefix, placed, h);
    const std::string middle = builder_.node(Op::kAdd, prefix + "/after_attention", {x, attended});
    const std::string g = norm(prefix + ".norm2", middle);
    const std::string wide = linear(prefix + ".linear1", g, spec_.ffn_dim, spec_.dim, true);
    const std::string active = builder_.node(Op::kRelu, prefix + "/relu", {wide});
    const std::string narrow = linear(prefix + ".linear2", active, spec_.dim, spec_.ffn_dim, true);
    return builder_.node(Op::kAdd, boundary_tensor(index + 1), {middle, narrow});
  }

 private:
  std::string convolution(const std::string& conv,
                          const std::string& norm_name,
                          const std::string& x,
                          const Shape& shape,
                          std::int64_t stride) {
    FoldedConvolution folded = fold_batch_norm(weights_, conv, norm_name, shape);
    const std::string weight = builder_.constant(conv + ".weight", std::move(folded.weight));
    const std::string bias = builder_.constant(conv + ".bias", std::move(folded.bias));
    return builder_.conv(conv, x, weight, bias, stride, shape[2] / 2);
  }

  std::string basic_block(const std::string& prefix,
                          const std::string& x,
                          std::int64_t in,
                          std::int64_t out,
                          std::int64_t stride) {
    std::string y = convolution(prefix + ".conv1", prefix + ".bn1", x, {out, in, 3, 3}, stride);
    y = builder_.node(Op::kRelu, prefix + "/relu1", {y});
    y = convolution(prefix + ".conv2", prefix + ".bn2", y, {out, out, 3, 3}, 1);
    std::string skip = x;
    if (stride != 1 || in != out) {
      skip = convolution(
          prefix + ".downsample.0", prefix + ".downsample.1", x, {out, in, 1, 1}, stride);
    }
    y = builder_.node(Op::kAdd, prefix + "/sum", {y, skip});
    return builder_.node(Op::kRelu, prefix + "/relu2", {y});
  }

  std::string norm(const std::string& name, const std::string& x) {
    const std::string scale =
        builder_.constant(name + ".weight", weights_.get(name + ".weight", {spec_.dim}));
    const std::string shift =
        builder_.constant(name + ".bias", weights_.get(name + ".bias", {spec_.dim}));
    return builder_.layer_norm(name, x, scale, shift, kLayerNormEpsilon);
  }

  std::string linear(const std::string& name,
                     const std::string& x,
                     std::int64_t out,
                     std::int64_t in,
                     bool has_bias) {
    const std::string weight =
        builder_.constant(name + ".weight", weights_.transposed(name + ".weight", out, in));
    if (!has_bias) {
      return builder_.node(Op::kMatMul, name, {x, weight});
    }
    const std::string bias = builder_.constant(name + ".bias", weights_.get(name + ".bias", {out}));
    builder_.node(Op::kMatMul, name + "/product", {x, weight});
    return builder_.node(Op::kAdd, name, {name + "/product", bias});
  }

  std::string heads(const std::string& x, std::vector<std::int64_t> order) {
    const std::string split = builder_.reshape(
        x + "/split", x, {0, spec_.num_tokens(), spec_.num_heads, spec_.dim / spec_.num_heads});
    return builder_.transpose(x + "/heads", split, std::move(order));
  }

  std::string attention(const std::string& prefix,
                        const std::string& placed,
                        const std::string& plain) {
    const std::string p = prefix + ".self_attn";
    const std::int64_t d = spec_.dim;
    const std::string q = heads(linear(p + ".q_proj", placed, d, d, false), {0, 2, 1, 3});
    const std::string k = heads(linear(p + ".k_proj", placed, d, d, false), {0, 2, 3, 1});
    const std::string v = heads(linear(p + ".v_proj", plain, d, d, false), {0, 2, 1, 3});
    const std::array<float, 1> scale{1.0F / std::sqrt(static_cast<float>(d / spec_.num_heads))};
    builder_.node(Op::kMatMul, p + "/scores", {q, k});
    builder_.node(
        Op::kMul, p + "/scaled", {p + "/scores", builder_.constant("attention/scale", {1}, scale)});
    builder_.node(Op::kSoftmax, p + "/weights", {p + "/scaled"}, {{"axis", std::int64_t{-1}}});
    builder_.node(Op::kMatMul, p + "/mixed", {p + "/weights", v});
    const std::string merged =
        builder_.reshape(p + "/merged",
                         builder_.transpose(p + "/tokens", p + "/mixed", {0, 2, 1, 3}),
                         {0, spec_.num_tokens(), d});
    return linear(p + ".out_proj", merged, d, d, false);
  }

  const policy::ArActorSpec& spec_;
  EncoderWeights weights_;
  Builder& builder_;
};

}  // namespace

HostTensor sine_position(std::int64_t high, std::int64_t wide, std::int64_t dim) {
  FROSTLINE_REQUIRE(dim > 0 && dim % 4 == 0,
                    ErrorCode::kConfig,
                    "model width must be a multiple of 4",
                    fmt::format("dim={}", dim));
  constexpr double kTurn = 2.0 * std::numbers::pi;
  HostTensor table(DType::kF32, {high * wide, dim});
  const auto out = table.data<float>();
  const std::int64_t half = dim / 2;
  const auto code = [half](std::int64_t index, std::int64_t extent, std::int64_t channel) {
    const double place =
        static_cast<double>(index + 1) / (static_cast<double>(extent) + 1e-6) * kTurn;
    const double exponent = static_cast<double>(channel / 2 * 2) / static_cast<double>(half);
    const double angle = place / std::pow(10000.0, exponent);
    return static_cast<float>(channel % 2 == 0 ? std::sin(angle) : std::cos(angle));
  };
  for (std::int64_t row = 0; row < high; ++row) {
    for (std::int64_t column = 0; column < wide; ++column) {
      for (std::int64_t c = 0; c < half; ++c) {
        const auto start = static_cast<std::size_t>((row * wide + column) * dim);
        out[start + static_cast<std::size_t>(c)] = code(row, high, c);
        out[start + static_cast<std::size_t>(half + c)] = code(column, wide, c);
      }
    }
  }
  return table;
}

graph::Graph encoder_graph(const policy::ArActorSpec& spec,
                           const NamedTensors& weights,
                           int boundary,
                           std::int64_t batch) {
  FROSTLINE_REQUIRE(boundary >= 0 && boundary <= spec.num_encoder_layers,
                    ErrorCode::kUsage,
                    "boundary is outside the encoder",
                    fmt::format("boundary={} layers={}", boundary, spec.num_encoder_layers));
  FROSTLINE_REQUIRE(
      batch > 0, ErrorCode::kUsage, "batch size must be positive", fmt::format("batch={}", batch));
  FROSTLINE_REQUIRE(spec.num_heads > 0 && spec.dim % spec.num_heads == 0,
                    ErrorCode::kConfig,
                    "model width must be a multiple of the number of heads",
                    fmt::format("dim={} heads={}", spec.dim, spec.num_heads));
  Builder builder("encoder_" + boundary_name(boundary));
  Stages stages(spec, weights, builder);
  const std::string image =
      builder.input({"image", DType::kU8, {batch, spec.image_height_px, spec.image_width_px, 3}});
  std::string x = stages.projection(stages.backbone(stages.normalised_image(image)));
  for (int i = 0; i < boundary; ++i) {
    x = stages.layer(i, x);
  }
  return std::move(builder).finish(crossing_tensors(boundary));
}

}  // namespace frostline::split
