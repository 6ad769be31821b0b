#pragma once

#include <span>

#include <ATen/core/Tensor.h>

#include "frostline/core/tensor.h"

namespace frostline::policy {

at::ScalarType to_torch(DType dtype);
/// Errors: `kInternal` for an element type that core does not know.
DType from_torch(at::ScalarType type);

/// Copies into a new CPU tensor.
at::Tensor to_torch(const HostTensor& tensor);
/// Borrows `bytes`, which must outlive the tensor and hold exactly `spec`'s elements.
at::Tensor borrow_as_torch(const TensorSpec& spec, std::span<std::byte> bytes);
/// Copies to host memory; waits for the device.
HostTensor to_host(const at::Tensor& tensor);

}  // namespace frostline::policy
