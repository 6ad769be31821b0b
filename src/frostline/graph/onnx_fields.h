#pragma once

#include <cstdint>

#include "frostline/core/tensor.h"

/// Field numbers of the messages of ONNX that are read and written.
/// Source: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
namespace frostline::graph::onnx_fields {

enum class Model : std::uint32_t { kIrVersion = 1, kProducer = 2, kGraph = 7, kOpset = 8 };
enum class Opset : std::uint32_t { kDomain = 1, kVersion = 2 };
enum class Body : std::uint32_t {
  kNode = 1,
  kName = 2,
  kInitialiser = 5,
  kInput = 11,
  kOutput = 12,
};
enum class NodeField : std::uint32_t {
  kInput = 1,
  kOutput = 2,
  kName = 3,
  kOp = 4,
  kAttribute = 5,
  kDomain = 7,
};
enum class AttributeField : std::uint32_t {
  kName = 1,
  kFloat = 2,
  kInt = 3,
  kString = 4,
  kInts = 8,
  kType = 20,
};
enum class TensorField : std::uint32_t { kDims = 1, kType = 2, kName = 8, kRaw = 9 };
enum class ValueField : std::uint32_t { kName = 1, kType = 2 };
enum class TypeField : std::uint32_t { kTensor = 1 };
enum class TensorTypeField : std::uint32_t { kElement = 1, kShape = 2 };
enum class ShapeField : std::uint32_t { kDim = 1 };
enum class DimField : std::uint32_t { kValue = 1 };

constexpr std::int32_t kTypeFloat = 1;
constexpr std::int32_t kTypeInt = 2;
constexpr std::int32_t kTypeString = 3;
constexpr std::int32_t kTypeInts = 7;

constexpr std::int64_t kIrVersion = 8;
constexpr std::int64_t kOpset = 17;

}  // namespace frostline::graph::onnx_fields

namespace frostline::graph {

/// ONNX's number of an element type. Errors: `kUnsupported` naming it.
std::int32_t onnx_type(DType dtype);
DType dtype_of_onnx(std::int32_t type);

}  // namespace frostline::graph
