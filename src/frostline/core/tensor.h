#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frostline/core/error.h"

namespace frostline {

/// Element type of a tensor.
enum class DType { kF32, kF16, kBF16, kF64, kI8, kU8, kI32, kI64, kBool };

std::size_t size_of(DType dtype);
/// Lower-case name: `f32`, `f16`, `bf16`, `f64`, `i8`, `u8`, `i32`, `i64`, `bool`.
std::string_view to_string(DType dtype);

using Shape = std::vector<std::int64_t>;

/// Number of elements; 1 for a scalar (empty shape).
std::int64_t num_elements(const Shape& shape);
/// `[2, 3, 4]`.
std::string to_string(const Shape& shape);

/// Name, element type and shape of a tensor.
struct TensorSpec {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;

  std::size_t num_bytes() const {
    return static_cast<std::size_t>(num_elements(shape)) * size_of(dtype);
  }

  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) {
    return DType::kF32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DType::kF64;
  } else if constexpr (std::is_same_v<T, std::int8_t>) {
    return DType::kI8;
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    return DType::kU8;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return DType::kI32;
  } else {
    static_assert(std::is_same_v<T, std::int64_t>, "no element type for T");
    return DType::kI64;
  }
}

/// Dense row-major tensor in host memory, aligned to 64 bytes. Copies are deep. One thread writes.
class HostTensor {
 public:
  HostTensor() = default;
  /// Zero-filled.
  HostTensor(DType dtype, Shape shape);
  HostTensor(const HostTensor& other);
  HostTensor& operator=(const HostTensor& other);
  HostTensor(HostTensor&&) noexcept = default;
  HostTensor& operator=(HostTensor&&) noexcept = default;
  ~HostTensor() = default;

  template <class T>
  static HostTensor from(const Shape& shape, std::span<const T> values) {
    HostTensor tensor(dtype_of<T>(), shape);
    FROSTLINE_CHECK(static_cast<std::int64_t>(values.size()) == num_elements(shape));
    std::copy(values.begin(), values.end(), tensor.data<T>().begin());
    return tensor;
  }

  DType dtype() const { return dtype_; }

  const Shape& shape() const { return shape_; }

  std::int64_t size() const { return num_elements(shape_); }

  std::span<std::byte> bytes() { return {data_.get(), num_bytes_}; }

  std::span<const std::byte> bytes() const { return {data_.get(), num_bytes_}; }

  /// Typed view. Errors: `kInternal` when T is not the element type.
  template <class T>
  std::span<T> data() {
    FROSTLINE_CHECK(dtype_of<T>() == dtype_);
    return {reinterpret_cast<T*>(data_.get()), num_bytes_ / sizeof(T)};
  }

  template <class T>
  std::span<const T> data() const {
    FROSTLINE_CHECK(dtype_of<T>() == dtype_);
    return {reinterpret_cast<const T*>(data_.get()), num_bytes_ / sizeof(T)};
  }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept;
  };

  DType dtype_ = DType::kF32;
  Shape shape_;
  std::size_t num_bytes_ = 0;
  std::unique_ptr<std::byte[], Free> data_;
};

/// Converts to fp32 from any floating-point element type (or returns a copy of an fp32 tensor).
/// Errors: `kInternal` for integer types.
HostTensor to_f32(const HostTensor& tensor);
/// Converts an fp32 tensor to f16 or bf16, rounding to nearest even.
HostTensor from_f32(const HostTensor& tensor, DType dtype);

/// Weights by name, sorted.
using NamedTensors = std::map<std::string, HostTensor, std::less<>>;

}  // namespace frostline
