#pragma once

namespace frostline::pipeline {

/// Which cores of this process belong to whom, decided in one place: two runtimes that both take
/// all cores spin against each other (libtorch with 2 OpenMP threads beside other work on 2 cores
/// ran 3.5 times slower than with 1).
///
/// The trainer has the same share in every condition, so that conditions differ in their encoder
/// alone; what it leaves belongs to decoding and to an encoder beside it.
struct CoreBudget {
  int trainer = 1;         ///< Expert: forward, backward, optimiser.
  int encoder_beside = 1;  ///< An encoder that works while the trainer works.
  int encoder_alone = 1;   ///< An encoder in its turn: inline, building a store, rollouts.
  int decode = 1;          ///< Threads that decode images.
};

/// Cores that this process may run on.
int available_cores();

/// `num_cores` 0 = all available.
CoreBudget plan_cores(int num_cores);

}  // namespace frostline::pipeline
