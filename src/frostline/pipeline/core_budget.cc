#include "frostline/pipeline/core_budget.h"

#include <algorithm>

#include <sched.h>

namespace frostline::pipeline {

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) {
    return 1;
  }
  return std::max(CPU_COUNT(&set), 1);
}

CoreBudget plan_cores(int num_cores) {
  const int cores = num_cores > 0 ? num_cores : available_cores();
  CoreBudget budget;
  budget.trainer = std::max(cores / 2, 1);
  budget.encoder_beside = std::max(cores - budget.trainer, 1);
  budget.encoder_alone = cores;
  budget.decode = std::clamp(cores / 4, 1, 8);
  return budget;
}

}  // namespace frostline::pipeline
