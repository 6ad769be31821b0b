#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <openvino/opsets/opset13.hpp>
#include <openvino/runtime/core.hpp>
#include <openvino/runtime/properties.hpp>

namespace {

std::shared_ptr<ov::Model> make_relu_of_matmul() {
  auto input = std::make_shared<ov::opset13::Parameter>(ov::element::f32, ov::Shape{1, 2});
  auto weight = ov::opset13::Constant::create(
      ov::element::f32, ov::Shape{2, 2}, std::vector<float>{1.0F, -1.0F, 2.0F, 0.5F});
  auto product = std::make_shared<ov::opset13::MatMul>(input, weight);
  auto relu = std::make_shared<ov::opset13::Relu>(product);
  return std::make_shared<ov::Model>(ov::OutputVector{relu}, ov::ParameterVector{input});
}

TEST(OpenVino, InfersOnTheCpuInFp32) {
  ov::Core core;
  ov::CompiledModel compiled = core.compile_model(make_relu_of_matmul(),
                                                  "CPU",
                                                  ov::inference_num_threads(1),
                                                  ov::hint::inference_precision(ov::element::f32));
  ov::InferRequest request = compiled.create_infer_request();
  float* input = request.get_input_tensor().data<float>();
  input[0] = 3.0F;
  input[1] = 1.0F;
  request.infer();
  const float* output = request.get_output_tensor().data<float>();
  EXPECT_FLOAT_EQ(output[0], 5.0F);
  EXPECT_FLOAT_EQ(output[1], 0.0F);
}

TEST(OpenVino, HasTheOnnxFrontEnd) {
  ov::Core core;
  EXPECT_THROW(core.read_model("not an onnx file", ov::Tensor()), ov::Exception);
}

}  // namespace
