#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <ATen/TensorOperators.h>
#include <ATen/ops/stack.h>
#include <gtest/gtest.h>

#include "frostline/core/safetensors.h"
#include "frostline/policy/ar_actor_encoder.h"
#include "frostline/policy/ar_actor_expert.h"
#include "frostline/policy/convert.h"

// Values of reference/ar_actor_reference.py (NumPy, float64), which shares no code with the policy.
namespace frostline::policy {
namespace {

// fp32 against float64 through 20 convolutions and 4 layers.
constexpr double kFeatureTolerance = 1e-4;
constexpr double kLossTolerance = 1e-5;

// CRC-32 of IEEE 802.3, as zlib.crc32.
std::uint32_t crc32_of(const std::string& text) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
    }
  }
  return ~crc;
}

HostTensor formula(const std::string& name, const Shape& shape, double scale, double offset) {
  HostTensor tensor(DType::kF32, shape);
  const double phase = static_cast<double>(crc32_of(name) % 10007) / 10007.0 * 6.0;
  double index = 0;
  for (float& value : tensor.data<float>()) {
    value =
        static_cast<float>(offset + scale * std::sin(1.7 * index + 0.3 * std::sqrt(index) + phase));
    ++index;
  }
  return tensor;
}

HostTensor weight(const std::string& name, const Shape& shape) {
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (name.ends_with("running_var")) {
    return formula(name, shape, 0.3, 1.0);
  }
  if (name.ends_with("running_mean")) {
    return formula(name, shape, 0.2, 0.0);
  }
  if ((has("norm") || has(".bn") || has("downsample.1")) && name.ends_with(".weight")) {
    return formula(name, shape, 0.3, 1.0);
  }
  if (name.ends_with("bias")) {
    return formula(name, shape, 0.2, 0.0);
  }
  const auto fan_in = static_cast<double>(num_elements(shape) / shape.front());
  return formula(name, shape, 1.5 / std::sqrt(fan_in), 0.0);
}

ParameterSet with_formula(std::vector<ParameterSpec> specs) {
  NamedTensors values;
  for (const ParameterSpec& spec : specs) {
    values.emplace(spec.name, weight(spec.name, spec.shape));
  }
  ParameterSet parameters(std::move(specs));
  parameters.load(values, "formula");
  return parameters;
}

class Reference : public testing::Test {
 protected:
  Reference() {
    const char* source = std::getenv("FROSTLINE_SOURCE_DIR");
    const std::filesystem::path root = source != nullptr ? source : ".";
    file_ = read_safetensors(root / "tests/data/ar_actor_reference.safetensors");
    spec_ = ar_actor_spec_from_json(parse_json(file_.metadata.at("spec"), "reference"));
    encoder_ = with_formula(encoder_parameter_specs(spec_));
    expert_ = with_formula(expert_parameter_specs(spec_));
    batch_ = {at("states"), at("valid"), at("actions"), at("action_is_pad"), at("history_drop")};
  }

  at::Tensor at(const std::string& name) const { return to_torch(file_.tensors.at(name)); }

  void expect_near(const at::Tensor& found, const std::string& name, double tolerance) const {
    const at::Tensor expected = at(name);
    ASSERT_EQ(found.sizes(), expected.sizes()) << name;
    EXPECT_LT((found - expected).abs().max().item<double>(), tolerance) << name;
  }

  SafeTensors file_;
  ArActorSpec spec_;
  ParameterSet encoder_;
  ParameterSet expert_;
  ExpertBatch batch_;
  Dropout off_;
};

TEST_F(Reference, EncoderAgrees) {
  const ArActorEncoder encoder(spec_, encoder_);
  expect_near(encoder.position(), "position", 1e-6);
  const std::vector<at::Tensor> x = encoder.encode(at("image"));
  const Prefix prefix = encoder.prefix(x);
  ASSERT_EQ(x.size(), 5);
  for (std::size_t i = 0; i < x.size(); ++i) {
    expect_near(x[i], "x_" + std::to_string(i), kFeatureTolerance);
  }
  for (std::size_t i = 0; i < prefix.keys.size(); ++i) {
    expect_near(prefix.keys[i], "key_" + std::to_string(i), kFeatureTolerance);
    expect_near(prefix.values[i], "value_" + std::to_string(i), kFeatureTolerance);
  }
}

TEST_F(Reference, TrainableEncoderWithFrozenNormsAgrees) {
  const TrainableEncoder encoder(spec_, encoder_);
  const auto x = encoder.forward(at("image"), BatchNormMode::kRunningStatistics, off_);
  expect_near(x.front(), "x_0", kFeatureTolerance);
  expect_near(x.back(), "x_4", kFeatureTolerance);
}

TEST_F(Reference, ExpertAndLossAgree) {
  const ArActorEncoder encoder(spec_, encoder_);
  const ArActorExpert expert(spec_, expert_);
  const Prefix prefix = encoder.prefix(encoder.encode(at("image")));
  expect_near(
      expert.autoregressive().forward(prefix, batch_, off_), "predicted_ar", kFeatureTolerance);
  expect_near(expert.parallel().forward(prefix.memory, prefix.position, off_),
              "predicted_fast",
              kFeatureTolerance);
  const ExpertLoss valid = expert.loss(prefix, batch_, LossReduction::kValid, off_);
  const ExpertLoss all = expert.loss(prefix, batch_, LossReduction::kAll, off_);
  expect_near(at::stack({valid.autoregressive, all.autoregressive}), "loss_ar", kLossTolerance);
  expect_near(at::stack({valid.parallel, all.parallel}), "loss_fast", kLossTolerance);
  EXPECT_FLOAT_EQ(valid.total.item<float>(), (valid.autoregressive + valid.parallel).item<float>());
}

// Masks with -inf and their own dropout path, entered with a probability that drops nothing.
TEST_F(Reference, ExplicitAttentionAgrees) {
  const ArActorEncoder encoder(spec_, encoder_);
  const AutoregressiveBranch branch(spec_, expert_);
  const Prefix prefix = encoder.prefix(encoder.encode(at("image")));
  Dropout explicit_path(1e-12, 1, 1);
  expect_near(branch.forward(prefix, batch_, explicit_path), "predicted_ar", kFeatureTolerance);
}

}  // namespace
}  // namespace frostline::policy
