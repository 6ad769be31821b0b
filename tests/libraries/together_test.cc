#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <gtest/gtest.h>
#include <mujoco/mujoco.h>
#include <openvino/opsets/opset13.hpp>
#include <openvino/runtime/core.hpp>
#include <openvino/runtime/properties.hpp>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>

namespace {

/// The joint positions of one scene go through each library in turn; each brings its own threads,
/// allocator and copies of common libraries, and none may disturb another.
TEST(Together, CarryOneArrayThroughEveryLibrary) {
  const char* folder = std::getenv("FROSTLINE_DEPS_DIR");
  ASSERT_NE(folder, nullptr) << "run this test through ctest";
  const std::string scene =
      std::string(folder) + "/gym-aloha/gym_aloha/assets/bimanual_viperx_transfer_cube.xml";
  char error[1024] = "";
  const std::unique_ptr<mjModel, decltype(&mj_deleteModel)> model(
      mj_loadXML(scene.c_str(), nullptr, error, sizeof(error)), mj_deleteModel);
  ASSERT_NE(model, nullptr) << error;
  const std::unique_ptr<mjData, decltype(&mj_deleteData)> data(mj_makeData(model.get()),
                                                               mj_deleteData);
  mj_step(model.get(), data.get());
  std::vector<float> positions(data->qpos, data->qpos + model->nq);
  const auto num_positions = static_cast<std::size_t>(model->nq);

  auto input =
      std::make_shared<ov::opset13::Parameter>(ov::element::f32, ov::Shape{1, num_positions});
  auto weight = ov::opset13::Constant::create(
      ov::element::f32, ov::Shape{num_positions, 1}, std::vector<float>(num_positions, 1.0F));
  auto product = std::make_shared<ov::opset13::MatMul>(input, weight);
  ov::Core core;
  ov::CompiledModel compiled = core.compile_model(
      std::make_shared<ov::Model>(ov::OutputVector{product}, ov::ParameterVector{input}),
      "CPU",
      ov::inference_num_threads(1),
      ov::hint::inference_precision(ov::element::f32));
  ov::InferRequest request = compiled.create_infer_request();
  request.set_input_tensor(
      ov::Tensor(ov::element::f32, ov::Shape{1, num_positions}, positions.data()));
  request.infer();
  const float from_openvino = request.get_output_tensor().data<float>()[0];

  at::Tensor tensor = at::from_blob(positions.data(), {1, model->nq}).requires_grad_();
  const at::Tensor sum = at::matmul(tensor, at::ones({model->nq, 1}));
  sum.sum().backward();
  EXPECT_NEAR(sum.item<float>(), from_openvino, 1e-5F);
  EXPECT_TRUE(tensor.grad().eq(1.0).all().item<bool>());

  arrow::FloatBuilder builder;
  ASSERT_TRUE(builder.AppendValues(positions).ok());
  const auto table = arrow::Table::Make(arrow::schema({arrow::field("qpos", arrow::float32())}),
                                        {builder.Finish().ValueOrDie()});
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto properties =
      parquet::WriterProperties::Builder().compression(parquet::Compression::ZSTD)->build();
  ASSERT_TRUE(
      parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, 1024, properties)
          .ok());
  auto reader = parquet::arrow::OpenFile(
                    std::make_shared<arrow::io::BufferReader>(sink->Finish().ValueOrDie()),
                    arrow::default_memory_pool())
                    .ValueOrDie();
  const std::shared_ptr<arrow::Table> read = reader->ReadTable().ValueOrDie();
  EXPECT_TRUE(read->Equals(*table));
}

}  // namespace
