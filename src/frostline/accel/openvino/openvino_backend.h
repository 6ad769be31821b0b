#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frostline/accel/backend.h"

namespace frostline::accel {

/// OpenVINO's devices; a build without OpenVINO gives one entry `none` that says how to get it.
std::unique_ptr<EncoderBackend> make_openvino_backend();

/// In which number format the device runs the network's products.
struct ExecutionSummary {
  int num_products = 0;               ///< Convolutions and matrix products with constant weights.
  int num_int8 = 0;                   ///< Of them, those in INT8.
  std::vector<std::string> not_int8;  ///< `name: precision`.
  double compile_s = 0.0;
};

/// Compiles for the CPU and asks the run time what it will execute.
/// Errors: as `EncoderBackend::compile`; `kUnsupported` in a build without OpenVINO.
ExecutionSummary openvino_execution(const Artefact& artefact, const CompileOptions& options);

}  // namespace frostline::accel
