#include "frostline/pipeline/core_budget.h"

#include <thread>

#include <sched.h>

#include <gtest/gtest.h>

namespace frostline::pipeline {
namespace {

TEST(CoreBudget, NeverGivesOutMoreCoresThanThereAreNorNone) {
  for (const int cores : {1, 2, 3, 4, 16, 64, 256}) {
    const CoreBudget beside = plan_cores(cores, true);
    EXPECT_GE(beside.trainer, 1);
    EXPECT_GE(beside.encoder, 1);
    EXPECT_GE(beside.decode, 1);
    if (cores > 1) {
      EXPECT_EQ(beside.trainer + beside.encoder, cores);
    }
    const CoreBudget in_turn = plan_cores(cores, false);
    EXPECT_EQ(in_turn.trainer, cores);
    EXPECT_EQ(in_turn.encoder, cores);
    EXPECT_GE(in_turn.decode, 1);
    EXPECT_LE(in_turn.decode, 8);
  }
}

TEST(CoreBudget, ZeroMeansTheCoresThisProcessMayUse) {
  EXPECT_GE(available_cores(), 1);
  EXPECT_EQ(plan_cores(0, false).trainer, available_cores());
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
