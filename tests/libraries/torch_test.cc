#include <cmath>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace {

static_assert(_GLIBCXX_USE_CXX11_ABI == 1);

TEST(Torch, MultipliesMatrices) {
  const at::Tensor a = at::tensor({1.0F, 2.0F, 3.0F, 4.0F}).view({2, 2});
  const at::Tensor b = at::tensor({5.0F, 6.0F, 7.0F, 8.0F}).view({2, 2});
  const at::Tensor expected = at::tensor({19.0F, 22.0F, 43.0F, 50.0F}).view({2, 2});
  EXPECT_TRUE(at::matmul(a, b).equal(expected));
}

TEST(Torch, AttendsWithTheSoftmaxOfScaledScores) {
  const at::Tensor query = at::tensor({1.0F, 0.0F, 0.0F, 0.0F}).view({1, 1, 1, 4});
  const at::Tensor key =
      at::tensor({2.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F}).view({1, 1, 2, 4});
  const at::Tensor value =
      at::tensor({1.0F, 1.0F, 1.0F, 1.0F, 0.0F, 0.0F, 0.0F, 0.0F}).view({1, 1, 2, 4});
  const float result =
      at::scaled_dot_product_attention(query, key, value).flatten()[0].item<float>();
  // Scores 2 / sqrt(4) = 1 and 0.
  EXPECT_NEAR(result, std::exp(1.0F) / (std::exp(1.0F) + 1.0F), 1e-6F);
}

TEST(Torch, AttendsToNothingWithZerosAndFiniteGradients) {
  at::Tensor query = at::ones({1, 1, 1, 4}).requires_grad_();
  const at::Tensor mask = at::zeros({1, 1, 1, 2}, at::kBool);
  const at::Tensor result =
      at::scaled_dot_product_attention(query, at::ones({1, 1, 2, 4}), at::ones({1, 1, 2, 4}), mask);
  EXPECT_EQ(result.abs().sum().item<float>(), 0.0F);
  result.sum().backward();
  EXPECT_TRUE(query.grad().isfinite().all().item<bool>());
}

TEST(Torch, DifferentiatesWithAtenHeadersAlone) {
  at::Tensor x = at::tensor({1.0F, 2.0F, 3.0F}).requires_grad_();
  (x * x).sum().backward();
  EXPECT_TRUE(at::allclose(x.grad(), at::tensor({2.0F, 4.0F, 6.0F})));
}

TEST(Torch, StepsFusedAdamwOnTheCpu) {
  at::Tensor weight = at::full({1}, 1.0F);
  const at::Tensor gradient = at::full({1}, 0.5F);
  at::Tensor first = at::zeros({1});
  at::Tensor second = at::zeros({1});
  const at::Tensor step = at::ones({});
  at::_fused_adamw_({weight},
                    {gradient},
                    {first},
                    {second},
                    {},
                    {step},
                    /*lr=*/0.1,
                    /*beta1=*/0.9,
                    /*beta2=*/0.999,
                    /*weight_decay=*/0.0,
                    /*eps=*/1e-8,
                    /*amsgrad=*/false,
                    /*maximize=*/false);
  // The first bias-corrected step has the length of the learning rate.
  EXPECT_NEAR(weight.item<float>(), 0.9F, 1e-6F);
}

}  // namespace
