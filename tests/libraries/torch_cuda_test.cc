#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <gtest/gtest.h>

namespace {

const at::TensorOptions kOnDevice = at::TensorOptions().device(at::kCUDA);

/// Skipping is only for a machine without a device: kernels that are not linked must fail.
bool has_device() {
  return c10::cuda::device_count() > 0;
}

TEST(TorchCuda, MultipliesAndDifferentiatesOnTheDevice) {
  if (!has_device()) {
    GTEST_SKIP() << "no CUDA device";
  }
  const at::Tensor a = at::arange(12.0F).view({3, 4});
  at::Tensor b = at::ones({4, 2}, kOnDevice).requires_grad_();
  const at::Tensor product = at::matmul(a.to(at::kCUDA), b);
  EXPECT_TRUE(product.is_cuda());
  EXPECT_TRUE(product.cpu().equal(at::matmul(a, at::ones({4, 2}))));
  product.sum().backward();
  EXPECT_TRUE(b.grad().cpu().equal(at::matmul(a.t(), at::ones({3, 2}))));
}

TEST(TorchCuda, ReplaysACapturedGraphOnNewInputs) {
  if (!has_device()) {
    GTEST_SKIP() << "no CUDA device";
  }
  const at::Tensor input = at::ones({8}, kOnDevice);
  const at::Tensor output = at::zeros({8}, kOnDevice);
  at::cuda::CUDAGraph graph;
  {
    // Work on the default stream cannot be captured.
    const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
    output.copy_(input * 2.0);
    c10::cuda::getCurrentCUDAStream().synchronize();
    graph.capture_begin();
    output.copy_(input * 2.0);
    graph.capture_end();
  }
  input.fill_(5.0);
  graph.replay();
  EXPECT_TRUE(output.cpu().equal(at::ones({8}) * 10.0));
}

}  // namespace
