#include "frostline/core/tensor.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace frostline {

namespace {

constexpr std::size_t kAlignment = 64;

std::byte* allocate(std::size_t num_bytes) {
  return static_cast<std::byte*>(
      ::operator new[](num_bytes == 0 ? kAlignment : num_bytes, std::align_val_t{kAlignment}));
}

float half_to_float(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000U) << 16;
  const std::uint32_t exponent = (h >> 10) & 0x1fU;
  const std::uint32_t mantissa = h & 0x3ffU;
  if (exponent == 0) {
    const float value = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -value : value;
  }
  if (exponent == 31) {
    return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

std::uint16_t float_to_half(float f) {
  const auto bits = std::bit_cast<std::uint32_t>(f);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude >= 0x7f800000U) {
    return static_cast<std::uint16_t>(sign | 0x7c00U | (magnitude > 0x7f800000U ? 0x200U : 0U));
  }
  if (magnitude >= 0x477ff000U) {
    return static_cast<std::uint16_t>(sign | 0x7c00U);
  }
  if (magnitude < 0x38800000U) {
    // Subnormal halves are multiples of 2^-24; nearbyint rounds to even.
    const float scaled = std::ldexp(std::fabs(f), 24);
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(scaled)));
  }
  const std::uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13) & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
}

std::uint16_t float_to_bfloat(float f) {
  const auto bits = std::bit_cast<std::uint32_t>(f);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  }
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

template <class T>
T load(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}

}  // namespace

std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kI64:
      return 8;
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kF16:
    case DType::kBF16:
      return 2;
    case DType::kI8:
    case DType::kU8:
    case DType::kBool:
      return 1;
  }
  return 0;
}

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kF16:
      return "f16";
    case DType::kBF16:
      return "bf16";
    case DType::kF64:
      return "f64";
    case DType::kI8:
      return "i8";
    case DType::kU8:
      return "u8";
    case DType::kI32:
      return "i32";
    case DType::kI64:
      return "i64";
    case DType::kBool:
      return "bool";
  }
  return "unknown";
}

std::int64_t num_elements(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::string to_string(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

HostTensor::HostTensor(DType dtype, Shape shape)
    : dtype_(dtype),
      shape_(std::move(shape)),
      num_bytes_(static_cast<std::size_t>(num_elements(shape_)) * size_of(dtype)),
      data_(allocate(num_bytes_)) {
  std::memset(data_.get(), 0, num_bytes_);
}

HostTensor::HostTensor(const HostTensor& other)
    : dtype_(other.dtype_),
      shape_(other.shape_),
      num_bytes_(other.num_bytes_),
      data_(other.data_ ? allocate(other.num_bytes_) : nullptr) {
  if (data_) {
    std::memcpy(data_.get(), other.data_.get(), num_bytes_);
  }
}

HostTensor& HostTensor::operator=(const HostTensor& other) {
  if (this != &other) {
    *this = HostTensor(other);
  }
  return *this;
}

void HostTensor::Free::operator()(std::byte* p) const noexcept {
  ::operator delete[](p, std::align_val_t{kAlignment});
}

HostTensor to_f32(const HostTensor& tensor) {
  HostTensor result(DType::kF32, tensor.shape());
  const auto out = result.data<float>();
  const std::byte* in = tensor.bytes().data();
  for (std::size_t i = 0; i < out.size(); ++i) {
    switch (tensor.dtype()) {
      case DType::kF32:
        out[i] = load<float>(in + 4 * i);
        break;
      case DType::kF64:
        out[i] = static_cast<float>(load<double>(in + 8 * i));
        break;
      case DType::kF16:
        out[i] = half_to_float(load<std::uint16_t>(in + 2 * i));
        break;
      case DType::kBF16:
        out[i] =
            std::bit_cast<float>(static_cast<std::uint32_t>(load<std::uint16_t>(in + 2 * i)) << 16);
        break;
      default:
        FROSTLINE_CHECK(!"floating-point tensor");
    }
  }
  return result;
}

HostTensor from_f32(const HostTensor& tensor, DType dtype) {
  FROSTLINE_CHECK(tensor.dtype() == DType::kF32);
  FROSTLINE_CHECK(dtype == DType::kF16 || dtype == DType::kBF16);
  HostTensor result(dtype, tensor.shape());
  const auto in = tensor.data<float>();
  std::byte* out = result.bytes().data();
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::uint16_t value =
        dtype == DType::kF16 ? float_to_half(in[i]) : float_to_bfloat(in[i]);
    std::memcpy(out + 2 * i, &value, 2);
  }
  return result;
}

}  // namespace frostline
