#pragma once

namespace frostline::pipeline {

/// Which cores of this process belong to whom, decided in one place: two runtimes that both take all
/// cores spin against each other (libtorch with 2 OpenMP threads beside other work on 2 cores ran
/// 3.5 times slower than with 1).
struct CoreBudget {
  int trainer = 1;
  int encoder = 1;
  int decode = 1;
};

/// Cores that this process may run on.
int available_cores();

/// `num_cores` 0 = all available. With `is_encoder_beside` the encoder shares the cores with the
/// trainer at the same time; otherwise each may use all of them in its turn.
CoreBudget plan_cores(int num_cores, bool is_encoder_beside);

}  // namespace frostline::pipeline
