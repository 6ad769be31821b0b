#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <mujoco/mujoco.h>

namespace {

using Model = std::unique_ptr<mjModel, decltype(&mj_deleteModel)>;
using Data = std::unique_ptr<mjData, decltype(&mj_deleteData)>;

std::string transfer_cube_scene() {
  const char* folder = std::getenv("FROSTLINE_DEPS_DIR");
  EXPECT_NE(folder, nullptr) << "run this test through ctest";
  return std::string(folder == nullptr ? "" : folder) +
         "/gym-aloha/gym_aloha/assets/bimanual_viperx_transfer_cube.xml";
}

TEST(Mujoco, LoadsAndStepsTheTransferCubeScene) {
  ASSERT_EQ(mj_version(), mjVERSION_HEADER);
  std::array<char, 1024> error{};
  const Model model(mj_loadXML(transfer_cube_scene().c_str(), nullptr, error.data(), error.size()),
                    mj_deleteModel);
  ASSERT_NE(model, nullptr) << error.data();
  EXPECT_EQ(model->nq, 23);
  EXPECT_EQ(model->nv, 22);
  EXPECT_EQ(model->nu, 16);

  const Data data(mj_makeData(model.get()), mj_deleteData);
  ASSERT_NE(data, nullptr);
  for (int step = 0; step < 10; ++step) {
    mj_step(model.get(), data.get());
  }
  EXPECT_NEAR(data->time, 10 * model->opt.timestep, 1e-12);
  for (int i = 0; i < model->nq; ++i) {
    EXPECT_TRUE(std::isfinite(data->qpos[i])) << "qpos index " << i;
  }
}

}  // namespace
