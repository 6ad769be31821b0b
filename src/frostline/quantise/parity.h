#pragma once

#include <span>
#include <string>
#include <vector>

#include "frostline/accel/run.h"

namespace frostline::quantise {

/// How far one boundary tensor is from the reference.
struct ParityRow {
  std::string tensor;
  double cosine = 0.0;          ///< Mean over tokens.
  double relative_error = 0.0;  ///< |a - b| / |b| over the tensor.
};

/// An artefact with the means to run it.
struct Runnable {
  const accel::Artefact& artefact;
  accel::Runner run;
};

/// Encodes every batch with both and compares each tensor of `candidate` with the reference's of
/// the same name, after its codes were turned back into values. Errors: `kUsage` without batches,
/// or naming a tensor that the reference lacks.
std::vector<ParityRow> parity(const Runnable& reference,
                              const Runnable& candidate,
                              std::span<const HostTensor> batches);

/// Smallest cosine; -1 when one is not a number.
double worst_cosine(std::span<const ParityRow> rows);

/// `tensor cosine=… relative_error=…`, one after another.
std::string to_text(std::span<const ParityRow> rows);

/// Errors: `kNumeric` with the figures when a cosine is below `min_cosine` or not a number.
void require_parity(std::span<const ParityRow> rows, double min_cosine);

/// Least cosine that a boundary tensor may have.
constexpr double kGateCosine = 0.98;

}  // namespace frostline::quantise
