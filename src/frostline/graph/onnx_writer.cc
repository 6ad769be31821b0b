#include <array>

#include <fmt/format.h>
#include <protozero/pbf_builder.hpp>

#include "frostline/graph/onnx.h"
#include "frostline/graph/onnx_fields.h"

namespace frostline::graph {

namespace {

using namespace onnx_fields;  // NOLINT(google-build-using-namespace): field names only

constexpr std::array<std::pair<DType, std::int32_t>, 9> kTypes{{
    {DType::kF32, 1},
    {DType::kU8, 2},
    {DType::kI8, 3},
    {DType::kI32, 6},
    {DType::kI64, 7},
    {DType::kBool, 9},
    {DType::kF16, 10},
    {DType::kF64, 11},
    {DType::kBF16, 16},
}};

void write_attribute(protozero::pbf_builder<NodeField>& node,
                     const std::string& name,
                     const Attribute& attribute) {
  protozero::pbf_builder<AttributeField> message(node, NodeField::kAttribute);
  message.add_string(AttributeField::kName, name);
  std::int32_t type = kTypeInts;
  if (const auto* integer = std::get_if<std::int64_t>(&attribute)) {
    message.add_int64(AttributeField::kInt, *integer);
    type = kTypeInt;
  } else if (const auto* real = std::get_if<float>(&attribute)) {
    message.add_float(AttributeField::kFloat, *real);
    type = kTypeFloat;
  } else if (const auto* text = std::get_if<std::string>(&attribute)) {
    message.add_bytes(AttributeField::kString, *text);
    type = kTypeString;
  } else {
    for (const std::int64_t value : std::get<std::vector<std::int64_t>>(attribute)) {
      message.add_int64(AttributeField::kInts, value);
    }
  }
  message.add_enum(AttributeField::kType, type);
}

void write_node(protozero::pbf_builder<Body>& body, const Node& node) {
  protozero::pbf_builder<NodeField> message(body, Body::kNode);
  for (const std::string& input : node.inputs) {
    message.add_string(NodeField::kInput, input);
  }
  for (const std::string& output : node.outputs) {
    message.add_string(NodeField::kOutput, output);
  }
  message.add_string(NodeField::kName, node.name);
  message.add_string(NodeField::kOp, std::string(to_string(node.op)));
  for (const auto& [name, attribute] : node.attributes) {
    write_attribute(message, name, attribute);
  }
}

void write_tensor(protozero::pbf_builder<Body>& body,
                  const std::string& name,
                  const HostTensor& tensor) {
  protozero::pbf_builder<TensorField> message(body, Body::kInitialiser);
  for (const std::int64_t extent : tensor.shape()) {
    message.add_int64(TensorField::kDims, extent);
  }
  message.add_int32(TensorField::kType, onnx_type(tensor.dtype()));
  message.add_string(TensorField::kName, name);
  message.add_bytes(TensorField::kRaw,
                    reinterpret_cast<const char*>(tensor.bytes().data()),
                    tensor.bytes().size());
}

void write_value(protozero::pbf_builder<Body>& body, Body field, const TensorSpec& spec) {
  protozero::pbf_builder<ValueField> message(body, field);
  message.add_string(ValueField::kName, spec.name);
  protozero::pbf_builder<TypeField> type(message, ValueField::kType);
  protozero::pbf_builder<TensorTypeField> tensor(type, TypeField::kTensor);
  tensor.add_int32(TensorTypeField::kElement, onnx_type(spec.dtype));
  protozero::pbf_builder<ShapeField> shape(tensor, TensorTypeField::kShape);
  for (const std::int64_t extent : spec.shape) {
    protozero::pbf_builder<DimField> dim(shape, ShapeField::kDim);
    dim.add_int64(DimField::kValue, extent);
  }
}

}  // namespace

std::int32_t onnx_type(DType dtype) {
  for (const auto& [known, type] : kTypes) {
    if (known == dtype) {
      return type;
    }
  }
  throw Error(ErrorCode::kUnsupported,
              "element type has no ONNX number",
              fmt::format("dtype={}", to_string(dtype)));
}

DType dtype_of_onnx(std::int32_t type) {
  for (const auto& [dtype, known] : kTypes) {
    if (known == type) {
      return dtype;
    }
  }
  throw Error(
      ErrorCode::kUnsupported, "ONNX element type is not known", fmt::format("type={}", type));
}

std::string to_onnx(const Graph& graph) {
  infer_types(graph);
  std::string bytes;
  protozero::pbf_builder<Model> model(bytes);
  model.add_int64(Model::kIrVersion, kIrVersion);
  model.add_string(Model::kProducer, "frostline");
  {
    protozero::pbf_builder<Body> body(model, Model::kGraph);
    for (const Node& node : graph.nodes) {
      write_node(body, node);
    }
    body.add_string(Body::kName, graph.name);
    for (const auto& [name, tensor] : graph.initialisers) {
      write_tensor(body, name, tensor);
    }
    for (const TensorSpec& input : graph.inputs) {
      write_value(body, Body::kInput, input);
    }
    for (const TensorSpec& output : graph.outputs) {
      write_value(body, Body::kOutput, output);
    }
  }
  protozero::pbf_builder<Opset> opset(model, Model::kOpset);
  opset.add_string(Opset::kDomain, "");
  opset.add_int64(Opset::kVersion, onnx_fields::kOpset);
  return bytes;
}

}  // namespace frostline::graph
