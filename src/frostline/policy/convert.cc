#include "frostline/policy/convert.h"

#include <cstring>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

namespace frostline::policy {

at::ScalarType to_torch(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return at::kFloat;
    case DType::kF16:
      return at::kHalf;
    case DType::kBF16:
      return at::kBFloat16;
    case DType::kF64:
      return at::kDouble;
    case DType::kI8:
      return at::kChar;
    case DType::kU8:
      return at::kByte;
    case DType::kI32:
      return at::kInt;
    case DType::kI64:
      return at::kLong;
    case DType::kBool:
      return at::kBool;
  }
  throw Error(ErrorCode::kInternal, "unknown element type");
}

DType from_torch(at::ScalarType type) {
  for (const DType dtype : {DType::kF32,
                            DType::kF16,
                            DType::kBF16,
                            DType::kF64,
                            DType::kI8,
                            DType::kU8,
                            DType::kI32,
                            DType::kI64,
                            DType::kBool}) {
    if (to_torch(dtype) == type) {
      return dtype;
    }
  }
  throw Error(ErrorCode::kInternal,
              "no element type of ours for a tensor of libtorch",
              fmt::format("type={}", c10::toString(type)));
}

at::Tensor to_torch(const HostTensor& tensor) {
  at::Tensor result = at::empty(tensor.shape(), to_torch(tensor.dtype()));
  if (!tensor.bytes().empty()) {
    std::memcpy(result.mutable_data_ptr(), tensor.bytes().data(), tensor.bytes().size());
  }
  return result;
}

at::Tensor borrow_as_torch(const TensorSpec& spec, std::span<std::byte> bytes) {
  FROSTLINE_CHECK(bytes.size() == spec.num_bytes());
  return at::from_blob(bytes.data(), spec.shape, at::TensorOptions().dtype(to_torch(spec.dtype)));
}

HostTensor to_host(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.detach().to(at::kCPU).contiguous();
  HostTensor result(from_torch(dense.scalar_type()), dense.sizes().vec());
  FROSTLINE_CHECK(result.bytes().size() == dense.nbytes());
  if (dense.nbytes() > 0) {
    std::memcpy(result.bytes().data(), dense.const_data_ptr(), dense.nbytes());
  }
  return result;
}

}  // namespace frostline::policy
