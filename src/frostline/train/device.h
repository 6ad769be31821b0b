#pragma once

#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>

#include "frostline/policy/dropout.h"

namespace frostline::train {

/// Opens `cpu`, `cuda` or `cuda:N`. Errors: `kUsage` for another name; `kDevice` when this build or
/// machine has no such device.
at::Device open_device(const std::string& name);

/// `fp32` or `bf16`.
at::ScalarType scalar_type(const std::string& precision);

/// Dropout whose masks depend on (seed, step) alone.
policy::Dropout step_dropout(at::Device device,
                             double probability,
                             std::uint64_t seed,
                             std::int64_t step);

/// Waits for everything submitted to the device.
void synchronise(at::Device device);

/// Starts a new peak: of the GPU's allocator, or of this process.
void reset_peak_memory(at::Device device);
/// Peak since the reset. Units: bytes.
std::int64_t peak_memory_bytes(at::Device device);

}  // namespace frostline::train
