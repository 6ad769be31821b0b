#include <cstring>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <protozero/pbf_message.hpp>

#include "frostline/graph/onnx.h"
#include "frostline/graph/onnx_fields.h"

namespace frostline::graph {

namespace {

using namespace onnx_fields;  // NOLINT(google-build-using-namespace): field names only

/// Checks the encoding of the current field, which protozero only asserts.
template <class Message>
Message& expect(Message& message, protozero::pbf_wire_type type) {
  FROSTLINE_REQUIRE(message.wire_type() == type,
                    ErrorCode::kData,
                    "field has the wrong encoding",
                    fmt::format("field={} encoding={} expected={}",
                                static_cast<std::uint32_t>(message.tag()),
                                static_cast<std::uint32_t>(message.wire_type()),
                                static_cast<std::uint32_t>(type)));
  return message;
}

template <class Message>
Message& delimited(Message& message) {
  return expect(message, protozero::pbf_wire_type::length_delimited);
}

template <class Message>
Message& varint(Message& message) {
  return expect(message, protozero::pbf_wire_type::varint);
}

template <class Message>
Message& fixed32(Message& message) {
  return expect(message, protozero::pbf_wire_type::fixed32);
}

/// Reads a repeated int64 in either encoding.
template <class Message>
void read_ints(Message& message, std::vector<std::int64_t>& values) {
  if (message.wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (const std::int64_t value : delimited(message).get_packed_int64()) {
      values.push_back(value);
    }
  } else {
    values.push_back(varint(message).get_int64());
  }
}

void read_attribute(protozero::pbf_message<AttributeField> message, Node& node) {
  std::string name;
  Attribute value;
  std::vector<std::int64_t> ints;
  std::int32_t type = 0;
  while (message.next()) {
    switch (message.tag()) {
      case AttributeField::kName:
        name = delimited(message).get_string();
        break;
      case AttributeField::kFloat:
        value = fixed32(message).get_float();
        break;
      case AttributeField::kInt:
        value = varint(message).get_int64();
        break;
      case AttributeField::kString:
        value = delimited(message).get_string();
        break;
      case AttributeField::kInts:
        read_ints(message, ints);
        break;
      case AttributeField::kType:
        type = varint(message).get_enum();
        break;
      default:
        message.skip();
    }
  }
  if (type == kTypeInts) {
    value = std::move(ints);
  }
  FROSTLINE_REQUIRE(
      type == kTypeInt || type == kTypeFloat || type == kTypeString || type == kTypeInts,
      ErrorCode::kUnsupported,
      "attribute type is not known",
      fmt::format("node={} attribute={} type={}", node.name, name, type));
  node.attributes.insert_or_assign(name, std::move(value));
}

Node read_node(protozero::pbf_message<NodeField> message) {
  Node node;
  std::string op;
  std::vector<protozero::data_view> attributes;
  while (message.next()) {
    switch (message.tag()) {
      case NodeField::kInput:
        node.inputs.push_back(delimited(message).get_string());
        break;
      case NodeField::kOutput:
        node.outputs.push_back(delimited(message).get_string());
        break;
      case NodeField::kName:
        node.name = delimited(message).get_string();
        break;
      case NodeField::kOp:
        op = delimited(message).get_string();
        break;
      case NodeField::kAttribute:
        attributes.push_back(delimited(message).get_view());
        break;
      case NodeField::kDomain: {
        const std::string domain = delimited(message).get_string();
        FROSTLINE_REQUIRE(domain.empty() || domain == "ai.onnx",
                          ErrorCode::kUnsupported,
                          "operator domain is not known",
                          fmt::format("domain={}", domain));
        break;
      }
      default:
        message.skip();
    }
  }
  node.op = op_from_string(op);
  for (const protozero::data_view& attribute : attributes) {
    read_attribute(protozero::pbf_message<AttributeField>(attribute), node);
  }
  FROSTLINE_REQUIRE(!node.outputs.empty(),
                    ErrorCode::kData,
                    "node has no output",
                    fmt::format("node={} op={}", node.name, op));
  return node;
}

/// Number of bytes of a tensor, or nothing when the extents make no sense.
std::optional<std::size_t> checked_num_bytes(const Shape& shape, DType dtype) {
  constexpr std::int64_t kLimit = std::numeric_limits<std::int64_t>::max() / 16;
  std::int64_t total = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || (extent > 0 && total > kLimit / extent)) {
      return std::nullopt;
    }
    total *= extent;
  }
  return static_cast<std::size_t>(total) * size_of(dtype);
}

void read_tensor(protozero::pbf_message<TensorField> message, Graph& graph) {
  std::string name;
  Shape shape;
  std::int32_t type = 0;
  protozero::data_view raw;
  while (message.next()) {
    switch (message.tag()) {
      case TensorField::kDims:
        read_ints(message, shape);
        break;
      case TensorField::kType:
        type = varint(message).get_int32();
        break;
      case TensorField::kName:
        name = delimited(message).get_string();
        break;
      case TensorField::kRaw:
        raw = delimited(message).get_view();
        break;
      default:
        message.skip();
    }
  }
  const DType dtype = dtype_of_onnx(type);
  const auto expected = checked_num_bytes(shape, dtype);
  FROSTLINE_REQUIRE(
      expected == raw.size(),
      ErrorCode::kData,
      "constant's raw data has the wrong size",
      fmt::format(
          "constant={} type={}{} bytes={}", name, to_string(dtype), to_string(shape), raw.size()));
  HostTensor tensor(dtype, shape);
  if (!raw.empty()) {
    std::memcpy(tensor.bytes().data(), raw.data(), raw.size());
  }
  graph.initialisers.insert_or_assign(name, std::move(tensor));
}

Shape read_shape(protozero::pbf_message<ShapeField> message) {
  Shape shape;
  while (message.next(ShapeField::kDim)) {
    protozero::pbf_message<DimField> dim = delimited(message).get_message();
    shape.push_back(0);
    while (dim.next()) {
      if (dim.tag() == DimField::kValue) {
        shape.back() = varint(dim).get_int64();
      } else {
        dim.skip();
      }
    }
  }
  return shape;
}

TensorSpec read_value(protozero::pbf_message<ValueField> message) {
  TensorSpec spec;
  while (message.next()) {
    if (message.tag() == ValueField::kName) {
      spec.name = delimited(message).get_string();
    } else if (message.tag() == ValueField::kType) {
      protozero::pbf_message<TypeField> type = delimited(message).get_message();
      while (type.next(TypeField::kTensor)) {
        protozero::pbf_message<TensorTypeField> tensor = delimited(type).get_message();
        while (tensor.next()) {
          if (tensor.tag() == TensorTypeField::kElement) {
            spec.dtype = dtype_of_onnx(varint(tensor).get_int32());
          } else if (tensor.tag() == TensorTypeField::kShape) {
            spec.shape = read_shape(delimited(tensor).get_message());
          } else {
            tensor.skip();
          }
        }
      }
    } else {
      message.skip();
    }
  }
  return spec;
}

Graph read_graph(protozero::pbf_message<Body> message) {
  Graph graph;
  while (message.next()) {
    switch (message.tag()) {
      case Body::kNode:
        graph.nodes.push_back(read_node(delimited(message).get_message()));
        break;
      case Body::kName:
        graph.name = delimited(message).get_string();
        break;
      case Body::kInitialiser:
        read_tensor(delimited(message).get_message(), graph);
        break;
      case Body::kInput:
        graph.inputs.push_back(read_value(delimited(message).get_message()));
        break;
      case Body::kOutput:
        graph.outputs.push_back(read_value(delimited(message).get_message()));
        break;
      default:
        message.skip();
    }
  }
  // Files made before IR version 4 list constants among the inputs.
  std::erase_if(graph.inputs,
                [&](const TensorSpec& spec) { return graph.initialisers.contains(spec.name); });
  return graph;
}

std::int64_t read_opset(protozero::pbf_message<Opset> message) {
  std::int64_t version = 0;
  while (message.next()) {
    if (message.tag() == Opset::kVersion) {
      version = varint(message).get_int64();
    } else {
      message.skip();
    }
  }
  return version;
}

Graph read_model(std::string_view bytes) {
  protozero::pbf_message<Model> message(bytes.data(), bytes.size());
  std::optional<Graph> graph;
  std::int64_t opset = 0;
  while (message.next()) {
    switch (message.tag()) {
      case Model::kGraph:
        graph = read_graph(delimited(message).get_message());
        break;
      case Model::kOpset:
        opset = read_opset(delimited(message).get_message());
        break;
      default:
        message.skip();
    }
  }
  FROSTLINE_REQUIRE(graph.has_value() && opset != 0,
                    ErrorCode::kData,
                    "model has no graph or no opset",
                    "the file is cut or is not ONNX");
  FROSTLINE_REQUIRE(opset == onnx_fields::kOpset,
                    ErrorCode::kUnsupported,
                    "opset is not supported",
                    fmt::format("opset={} supported={}", opset, onnx_fields::kOpset));
  return std::move(*graph);
}

}  // namespace

Graph from_onnx(std::string_view bytes, std::string_view origin) {
  try {
    Graph graph = read_model(bytes);
    infer_types(graph);
    return graph;
  } catch (const protozero::exception& e) {
    throw Error(ErrorCode::kData,
                "malformed ONNX bytes",
                fmt::format("file={} bytes={} ; {}", origin, bytes.size(), e.what()));
  } catch (const Error& e) {
    throw Error(e.code(), "cannot read ONNX model", fmt::format("file={} ; {}", origin, e.what()));
  }
}

}  // namespace frostline::graph
