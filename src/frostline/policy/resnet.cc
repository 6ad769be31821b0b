#include "frostline/policy/resnet.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <fmt/format.h>

namespace frostline::policy {
namespace {

constexpr int kNumStages = 4;
constexpr int kBlocksPerStage = 2;

void declare_conv_norm(std::vector<ParameterSpec>& specs,
                       const std::string& conv,
                       const std::string& norm,
                       const Shape& shape) {
  const Shape channels{shape[0]};
  const auto declare = [&](const char* name, Initialiser initialiser, ParameterRole role) {
    specs.push_back({norm + name, channels, initialiser, 0, role});
  };
  specs.push_back({conv + ".weight", shape, Initialiser::kFanOutNormal});
  declare(".weight", Initialiser::kOnes, ParameterRole::kNormAffine);
  declare(".bias", Initialiser::kZeros, ParameterRole::kNormAffine);
  declare(".running_mean", Initialiser::kZeros, ParameterRole::kNormStatistic);
  declare(".running_var", Initialiser::kOnes, ParameterRole::kNormStatistic);
}

ConvNorm conv_norm(const ParameterSet& parameters,
                   const std::string& conv,
                   const std::string& norm,
                   std::int64_t stride) {
  const at::Tensor& weight = parameters.at(conv + ".weight");
  return {weight,
          parameters.at(norm + ".weight"),
          parameters.at(norm + ".bias"),
          parameters.at(norm + ".running_mean"),
          parameters.at(norm + ".running_var"),
          stride,
          weight.size(-1) / 2};
}

std::string block_name(const std::string& prefix, int stage, int block) {
  return fmt::format("{}.layer{}.{}", prefix, stage + 1, block);
}

FoldedConv fold(const ConvNorm& conv, at::ScalarType dtype) {
  const at::Tensor factor = conv.scale.detach() / (conv.variance + kBatchNormEpsilon).sqrt();
  const at::Tensor weight = conv.weight.detach() * factor.view({-1, 1, 1, 1});
  return {weight.to(dtype).contiguous(at::MemoryFormat::ChannelsLast),
          (conv.shift.detach() - conv.mean * factor).to(dtype),
          conv.stride,
          conv.padding};
}

at::Tensor apply(const FoldedConv& conv, const at::Tensor& x) {
  return at::conv2d(x, conv.weight, conv.bias, conv.stride, conv.padding);
}

at::Tensor max_pool(const at::Tensor& x) {
  return at::max_pool2d(x, 3, 2, 1);
}

}  // namespace

void declare_resnet18(std::vector<ParameterSpec>& specs,
                      const std::string& prefix,
                      std::int64_t width) {
  declare_conv_norm(specs, prefix + ".conv1", prefix + ".bn1", {width, 3, 7, 7});
  std::int64_t inputs = width;
  for (int stage = 0; stage < kNumStages; ++stage) {
    const std::int64_t outputs = width << stage;
    for (int block = 0; block < kBlocksPerStage; ++block) {
      const std::string name = block_name(prefix, stage, block);
      declare_conv_norm(specs, name + ".conv1", name + ".bn1", {outputs, inputs, 3, 3});
      declare_conv_norm(specs, name + ".conv2", name + ".bn2", {outputs, outputs, 3, 3});
      if (inputs != outputs) {
        declare_conv_norm(
            specs, name + ".downsample.0", name + ".downsample.1", {outputs, inputs, 1, 1});
      }
      inputs = outputs;
    }
  }
}

ResNet::ResNet(const ParameterSet& parameters, const std::string& prefix)
    : stem(conv_norm(parameters, prefix + ".conv1", prefix + ".bn1", 2)) {
  for (int stage = 0; stage < kNumStages; ++stage) {
    for (int block = 0; block < kBlocksPerStage; ++block) {
      const std::string name = block_name(prefix, stage, block);
      const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      ResNetBlock<ConvNorm> made{conv_norm(parameters, name + ".conv1", name + ".bn1", stride),
                                 conv_norm(parameters, name + ".conv2", name + ".bn2", 1),
                                 std::nullopt};
      if (stride != 1) {
        made.shortcut =
            conv_norm(parameters, name + ".downsample.0", name + ".downsample.1", stride);
      }
      blocks.push_back(std::move(made));
    }
  }
}

at::Tensor ResNet::forward(const at::Tensor& image, bool is_training, double momentum) const {
  const auto run = [&](const ConvNorm& conv, const at::Tensor& x) {
    const at::Tensor y =
        at::conv2d(x, conv.weight.to(x.scalar_type()), {}, conv.stride, conv.padding);
    return at::batch_norm(y,
                          conv.scale,
                          conv.shift,
                          conv.mean,
                          conv.variance,
                          is_training,
                          momentum,
                          kBatchNormEpsilon,
                          /*cudnn_enabled=*/true);
  };
  at::Tensor x = max_pool(at::relu(run(stem, image)));
  for (const ResNetBlock<ConvNorm>& block : blocks) {
    const at::Tensor y = run(block.conv2, at::relu(run(block.conv1, x)));
    x = at::relu(y + (block.shortcut ? run(*block.shortcut, x) : x));
  }
  return x;
}

FoldedResNet::FoldedResNet(const ResNet& network, at::ScalarType dtype)
    : stem(fold(network.stem, dtype)) {
  for (const ResNetBlock<ConvNorm>& block : network.blocks) {
    ResNetBlock<FoldedConv> folded{
        fold(block.conv1, dtype), fold(block.conv2, dtype), std::nullopt};
    if (block.shortcut) {
      folded.shortcut = fold(*block.shortcut, dtype);
    }
    blocks.push_back(std::move(folded));
  }
}

at::Tensor FoldedResNet::forward(const at::Tensor& image) const {
  at::Tensor x = max_pool(apply(stem, image).relu_());
  for (const ResNetBlock<FoldedConv>& block : blocks) {
    at::Tensor y = apply(block.conv2, apply(block.conv1, x).relu_());
    y.add_(block.shortcut ? apply(*block.shortcut, x) : x);
    x = y.relu_();
  }
  return x;
}

}  // namespace frostline::policy
