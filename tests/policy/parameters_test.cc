#include "frostline/policy/parameters.h"

#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/policy/convert.h"
#include "tests/policy/tiny_policy.h"

namespace frostline::policy {
namespace {

using testing::HasSubstr;

std::vector<ParameterSpec> two_specs() {
  return {{"a.weight", {3, 5}, Initialiser::kXavierUniform},
          {"b.bias", {4}, Initialiser::kStandardNormal}};
}

std::string text_of_failed_load(ParameterSet& parameters, const NamedTensors& tensors) {
  try {
    parameters.load(tensors, "file.safetensors");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kData);
    return error.what();
  }
  return "accepted";
}

TEST(ParameterSet, DrawsEachTensorFromSeedAndNameAlone) {
  std::vector<ParameterSpec> reversed = two_specs();
  std::swap(reversed[0], reversed[1]);
  ParameterSet first(two_specs());
  ParameterSet second(reversed);
  first.initialise(11);
  second.initialise(11);
  EXPECT_TRUE(at::equal(first.at("a.weight"), second.at("a.weight")));
  EXPECT_TRUE(at::equal(first.at("b.bias"), second.at("b.bias")));
  EXPECT_EQ(first.fingerprint(), second.fingerprint());
  second.initialise(12);
  EXPECT_FALSE(at::equal(first.at("a.weight"), second.at("a.weight")));
}

TEST(ParameterSet, DrawsTheDistributionsOfTorch) {
  ParameterSet parameters({{"xavier", {200, 100}, Initialiser::kXavierUniform},
                           {"linear", {200, 100}, Initialiser::kFanInUniform, 100},
                           {"normal", {100, 100}, Initialiser::kStandardNormal},
                           {"conv", {64, 32, 3, 3}, Initialiser::kFanOutNormal}});
  parameters.initialise(1);
  const auto largest = [&](const char* name) {
    return parameters.at(name).abs().max().item<double>();
  };
  const auto deviation = [&](const char* name) { return parameters.at(name).std().item<double>(); };
  EXPECT_LE(largest("xavier"), std::sqrt(6.0 / 300));
  EXPECT_NEAR(deviation("xavier"), std::sqrt(2.0 / 300), 0.001);
  EXPECT_LE(largest("linear"), 0.1);
  EXPECT_NEAR(deviation("linear"), 0.1 / std::sqrt(3.0), 0.001);
  EXPECT_NEAR(deviation("normal"), 1.0, 0.03);
  EXPECT_NEAR(parameters.at("normal").mean().item<double>(), 0.0, 0.03);
  EXPECT_NEAR(deviation("conv"), std::sqrt(2.0 / (64 * 9)), 0.001);
}

// Pins the initial weights across builds: a change here makes old runs unrepeatable.
TEST(ParameterSet, InitialWeightsStayTheSame) {
  ParameterSet parameters(two_specs());
  parameters.initialise(2000);
  const HostTensor a = to_host(parameters.at("a.weight"));
  const HostTensor b = to_host(parameters.at("b.bias"));
  EXPECT_FLOAT_EQ(a.data<float>()[0], -0.81919479F);
  EXPECT_FLOAT_EQ(a.data<float>()[14], 0.26130298F);
  EXPECT_FLOAT_EQ(b.data<float>()[0], 0.099924453F);
  EXPECT_FLOAT_EQ(b.data<float>()[3], 0.9868241F);
}

TEST(ParameterSet, ValuesAndGradientsAreViewsOfOneBuffer) {
  ParameterSet parameters(two_specs());
  parameters.initialise(1);
  parameters.enable_gradients();
  EXPECT_EQ(parameters.values().numel(), 32);
  (parameters.at("a.weight") * 2).sum().backward();
  (parameters.at("b.bias") * 3).sum().backward();
  EXPECT_EQ(parameters.gradients().sum().item<float>(), 15 * 2 + 4 * 3);
  (parameters.at("b.bias") * 3).sum().backward();
  EXPECT_EQ(parameters.gradients().sum().item<float>(), 15 * 2 + 4 * 6);
  parameters.zero_gradients();
  EXPECT_EQ(parameters.at("b.bias").grad().sum().item<float>(), 0);
  const float before = parameters.at("a.weight").sum().item<float>();
  at::Tensor values = parameters.values();
  values.mul_(2);
  EXPECT_FLOAT_EQ(parameters.at("a.weight").sum().item<float>(), 2 * before);
}

TEST(ParameterSet, CloneIsApart) {
  ParameterSet parameters(encoder_parameter_specs(test::tiny_spec()));
  parameters.initialise(1);
  const ParameterSet copy = parameters.clone();
  EXPECT_EQ(copy.fingerprint(), parameters.fingerprint());
  const Fingerprint before = copy.fingerprint();
  parameters.initialise(2);
  EXPECT_EQ(copy.fingerprint(), before);
  EXPECT_NE(copy.fingerprint(), parameters.fingerprint());
}

TEST(ParameterSet, LoadRefusesWhatDoesNotFit) {
  ParameterSet parameters(two_specs());
  parameters.initialise(1);
  NamedTensors tensors = parameters.to_host();
  ParameterSet other(two_specs());
  other.load(tensors, "file.safetensors");
  EXPECT_EQ(other.fingerprint(), parameters.fingerprint());

  tensors["a.weight"] = HostTensor(DType::kF32, {5, 3});
  EXPECT_THAT(
      text_of_failed_load(other, tensors),
      HasSubstr("tensor=a.weight expected=[3, 5] found=[5, 3] file=file.safetensors ; use"));
  tensors["a.weight"] = HostTensor(DType::kI32, {3, 5});
  EXPECT_THAT(text_of_failed_load(other, tensors), HasSubstr("found=i32"));
  tensors.erase("a.weight");
  EXPECT_THAT(text_of_failed_load(other, tensors), HasSubstr("tensor missing"));
  tensors = parameters.to_host();
  tensors["c"] = HostTensor(DType::kF32, {1});
  EXPECT_THAT(text_of_failed_load(other, tensors), HasSubstr("unexpected tensor"));
}

TEST(ParameterSet, RefusesANameDeclaredTwice) {
  std::vector<ParameterSpec> specs = two_specs();
  specs[1].name = specs[0].name;
  EXPECT_THROW(ParameterSet(std::move(specs)), Error);
  EXPECT_THROW(ParameterSet(two_specs()).at("nothing"), Error);
}

TEST(Convert, KeepsValuesAndTypes) {
  HostTensor host(DType::kI8, {2, 3});
  host.data<std::int8_t>()[4] = -7;
  const at::Tensor tensor = to_torch(host);
  EXPECT_EQ(tensor.scalar_type(), at::kChar);
  EXPECT_EQ(tensor[1][1].item<int>(), -7);
  const HostTensor back = to_host(tensor.t());
  EXPECT_EQ(back.shape(), (Shape{3, 2}));
  EXPECT_EQ(back.data<std::int8_t>()[3], -7);
  at::Tensor borrowed = borrow_as_torch({"x", DType::kI8, {2, 3}}, host.bytes());
  borrowed.fill_(5);
  EXPECT_EQ(host.data<std::int8_t>()[0], 5);
}

}  // namespace
}  // namespace frostline::policy
