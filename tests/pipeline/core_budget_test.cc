#include "frostline/pipeline/core_budget.h"

#include <thread>

#include <sched.h>

#include <gtest/gtest.h>

namespace frostline::pipeline {
namespace {

TEST(CoreBudget, NeverGivesOutMoreCoresThanThereAreNorNone) {
  for (const int cores : {1, 2, 3, 4, 16, 64, 256}) {
    const CoreBudget budget = plan_cores(cores);
    EXPECT_GE(budget.trainer, 1);
    EXPECT_GE(budget.encoder_beside, 1);
    EXPECT_EQ(budget.encoder_alone, cores);
    EXPECT_GE(budget.decode, 1);
    EXPECT_LE(budget.decode, 8);
    if (cores > 1) {
      EXPECT_EQ(budget.trainer + budget.encoder_beside, cores);
    }
  }
}

TEST(CoreBudget, ZeroMeansTheCoresThisProcessMayUse) {
  EXPECT_GE(available_cores(), 1);
  EXPECT_EQ(plan_cores(0).encoder_alone, available_cores());
}

TEST(CoreBudget, ARestrictedProcessSeesOnlyItsCores) {
  int seen = 0;
  // The affinity is a thread's own, so the other tests keep theirs.
  std::jthread([&] {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    ASSERT_EQ(::sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) {
        CPU_ZERO(&allowed);
        CPU_SET(cpu, &allowed);
        break;
      }
    }
    ASSERT_EQ(::sched_setaffinity(0, sizeof(allowed), &allowed), 0);
    seen = available_cores();
  }).join();
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace frostline::pipeline
