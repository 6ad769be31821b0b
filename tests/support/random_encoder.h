#pragma once

#include <cmath>
#include <string>

#include "frostline/core/random.h"
#include "frostline/core/tensor.h"
#include "frostline/policy/ar_actor_spec.h"

namespace frostline::test {

/// Sizes small enough for the reference interpreter.
inline policy::ArActorSpec tiny_encoder_spec() {
  policy::ArActorSpec spec;
  spec.image_height_px = 64;
  spec.image_width_px = 96;
  spec.backbone_width = 4;
  spec.dim = 16;
  spec.num_heads = 2;
  spec.ffn_dim = 32;
  spec.num_encoder_layers = 2;
  spec.num_decoder_layers = 2;
  return spec;
}

/// Sizes of the demo's encoder.
inline policy::ArActorSpec demo_encoder_spec() {
  policy::ArActorSpec spec;
  spec.image_height_px = 240;
  spec.image_width_px = 320;
  spec.backbone_width = 16;
  spec.dim = 128;
  spec.num_heads = 8;
  spec.ffn_dim = 512;
  return spec;
}

/// Draws weights of an encoder one after another, scaled so that activations keep their size.
class RandomEncoder {
 public:
  explicit RandomEncoder(std::uint64_t seed) : random_(seed, RandomStream::kInitialWeights) {}

  NamedTensors weights(const policy::ArActorSpec& spec) {
    const std::int64_t width = spec.backbone_width;
    convolution("backbone.conv1", "backbone.bn1", {width, 3, 7, 7});
    std::int64_t in = width;
    for (int stage = 0; stage < 4; ++stage) {
      const std::int64_t out = width << stage;
      for (int block = 0; block < 2; ++block) {
        const std::string name =
            "backbone.layer" + std::to_string(stage + 1) + "." + std::to_string(block);
        convolution(name + ".conv1", name + ".bn1", {out, in, 3, 3});
        convolution(name + ".conv2", name + ".bn2", {out, out, 3, 3});
        if (in != out) {
          convolution(name + ".downsample.0", name + ".downsample.1", {out, in, 1, 1});
        }
        in = out;
      }
    }
    linear("encoder_img_feat_input_proj", {spec.dim, in, 1, 1}, in, true);
    for (std::int64_t i = 0; i < spec.num_encoder_layers; ++i) {
      layer("encoder.layers." + std::to_string(i), spec);
    }
    return std::move(weights_);
  }

 private:
  void fill(const std::string& name, const Shape& shape, float centre, float spread) {
    HostTensor tensor(DType::kF32, shape);
    for (float& value : tensor.data<float>()) {
      value = centre + spread * (2.0F * random_.next_float() - 1.0F);
    }
    weights_.insert_or_assign("model." + name, std::move(tensor));
  }

  void linear(const std::string& name, const Shape& shape, std::int64_t fan_in, bool has_bias) {
    fill(name + ".weight", shape, 0.0F, std::sqrt(3.0F / static_cast<float>(fan_in)));
    if (has_bias) {
      fill(name + ".bias", {shape[0]}, 0.0F, 0.1F);
    }
  }

  void convolution(const std::string& conv, const std::string& norm, const Shape& shape) {
    const std::int64_t fan_in = shape[1] * shape[2] * shape[3];
    fill(conv + ".weight", shape, 0.0F, std::sqrt(6.0F / static_cast<float>(fan_in)));
    fill(norm + ".weight", {shape[0]}, 0.8F, 0.3F);
    fill(norm + ".bias", {shape[0]}, 0.0F, 0.2F);
    fill(norm + ".running_mean", {shape[0]}, 0.0F, 0.1F);
    fill(norm + ".running_var", {shape[0]}, 1.5F, 0.5F);
  }

  void layer(const std::string& name, const policy::ArActorSpec& spec) {
    for (const std::string part : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
      linear(name + ".self_attn." + part, {spec.dim, spec.dim}, spec.dim, false);
    }
    linear(name + ".linear1", {spec.ffn_dim, spec.dim}, spec.dim, true);
    linear(name + ".linear2", {spec.dim, spec.ffn_dim}, spec.ffn_dim, true);
    for (const std::string norm : {".norm1", ".norm2"}) {
      fill(name + norm + ".weight", {spec.dim}, 1.0F, 0.3F);
      fill(name + norm + ".bias", {spec.dim}, 0.0F, 0.2F);
    }
  }

  Random random_;
  NamedTensors weights_;
};

/// Smooth coloured pictures with some noise, u8 [n, height, width, 3].
inline HostTensor random_frames(std::int64_t n,
                                std::int64_t high,
                                std::int64_t wide,
                                std::uint64_t seed) {
  Random random(seed, RandomStream::kCalibration);
  HostTensor frames(DType::kU8, {n, high, wide, 3});
  auto out = frames.data<std::uint8_t>().begin();
  for (std::int64_t f = 0; f < n; ++f) {
    const double phase = 6.28 * random.next_double();
    for (std::int64_t i = 0; i < high * wide * 3; ++i) {
      const auto place =
          static_cast<double>(i / 3 % wide) / 17.0 + static_cast<double>(i / 3 / wide) / 11.0;
      const double wave = 90.0 * std::sin(place + phase * static_cast<double>(i % 3 + 1));
      *out++ = static_cast<std::uint8_t>(127.5 + wave + 30.0 * (random.next_double() - 0.5));
    }
  }
  return frames;
}

}  // namespace frostline::test
