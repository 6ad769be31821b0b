#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/sim/environment.h"

namespace frostline::sim {
namespace {

TEST(SimulatorStub, SaysHowToEnableTheSimulator) {
  EXPECT_TRUE(task_ids().empty());
  try {
    create_environment("aloha_transfer_cube");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("FROSTLINE_WITH_MUJOCO=ON"), std::string::npos);
  }
}

}  // namespace
}  // namespace frostline::sim
