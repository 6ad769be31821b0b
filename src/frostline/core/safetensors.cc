#include "frostline/core/safetensors.h"

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/core/file.h"
#include "frostline/core/json.h"

namespace frostline {

namespace {

constexpr std::array<std::pair<std::string_view, DType>, 9> kNames = {{
    {"F32", DType::kF32},
    {"F16", DType::kF16},
    {"BF16", DType::kBF16},
    {"F64", DType::kF64},
    {"I8", DType::kI8},
    {"U8", DType::kU8},
    {"I32", DType::kI32},
    {"I64", DType::kI64},
    {"BOOL", DType::kBool},
}};

std::string_view name_of(DType dtype) {
  for (const auto& [name, value] : kNames) {
    if (value == dtype) {
      return name;
    }
  }
  FROSTLINE_CHECK(!"known element type");
  return {};
}

std::optional<DType> dtype_of_name(std::string_view text) {
  for (const auto& [name, value] : kNames) {
    if (name == text) {
      return value;
    }
  }
  return std::nullopt;
}

[[noreturn]] void malformed(const std::filesystem::path& path, std::string_view detail) {
  throw Error(ErrorCode::kData,
              "malformed safetensors file",
              fmt::format("file={} {} ; copy the file again or remove it", path.string(), detail));
}

HostTensor read_tensor(const std::filesystem::path& path,
                       const std::string& name,
                       const Json& entry,
                       std::span<const std::byte> data) {
  std::optional<DType> dtype;
  Shape shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  try {
    dtype = dtype_of_name(entry.at("dtype").get<std::string>());
    shape = entry.at("shape").get<Shape>();
    begin = entry.at("data_offsets").at(0).get<std::uint64_t>();
    end = entry.at("data_offsets").at(1).get<std::uint64_t>();
  } catch (const Json::exception& e) {
    malformed(path, fmt::format("tensor={} {}", name, e.what()));
  }
  if (!dtype) {
    malformed(path, fmt::format("tensor={} unknown dtype {}", name, entry["dtype"].dump()));
  }
  std::uint64_t expected = size_of(*dtype);
  for (const auto extent : shape) {
    // A product that overflows cannot match a range inside the file.
    if (extent < 0 ||
        (extent > 0 && expected > data.size() / static_cast<std::uint64_t>(extent) + data.size())) {
      malformed(path, fmt::format("tensor={} shape={}", name, to_string(shape)));
    }
    expected *= static_cast<std::uint64_t>(extent);
  }
  if (begin > end || end > data.size() || end - begin != expected) {
    malformed(path,
              fmt::format("tensor={} data_offsets=[{}, {}] needs {} bytes, file holds {}",
                          name,
                          begin,
                          end,
                          expected,
                          data.size()));
  }
  HostTensor tensor(*dtype, shape);
  if (expected > 0) {
    std::memcpy(tensor.bytes().data(), data.data() + begin, expected);
  }
  return tensor;
}

}  // namespace

SafeTensors read_safetensors(const std::filesystem::path& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  if (bytes.size() < 8) {
    malformed(path, fmt::format("size={} is shorter than the 8-byte header length", bytes.size()));
  }
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), 8);
  if (header_size > bytes.size() - 8) {
    malformed(
        path,
        fmt::format("header length {} exceeds the file's {} bytes", header_size, bytes.size()));
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + 8, header_size);
  const Json header = parse_json(text, path.string());
  if (!header.is_object()) {
    malformed(path, "the header is not a JSON object");
  }
  SafeTensors result;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      for (const auto& [key, value] : entry.items()) {
        result.metadata[key] = value.is_string() ? value.get<std::string>() : value.dump();
      }
      continue;
    }
    result.tensors.emplace(name, read_tensor(path, name, entry, bytes.subspan(8 + header_size)));
  }
  return result;
}

void write_safetensors(const std::filesystem::path& path, const SafeTensors& content) {
  Json header = Json::object();
  if (!content.metadata.empty()) {
    header["__metadata__"] = content.metadata;
  }
  std::vector<std::span<const std::byte>> pieces(2);
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : content.tensors) {
    const auto data = tensor.bytes();
    header[name] = {{"dtype", name_of(tensor.dtype())},
                    {"shape", tensor.shape()},
                    {"data_offsets", {offset, offset + data.size()}}};
    offset += data.size();
    pieces.push_back(data);
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t header_size = text.size();
  pieces[0] = std::as_bytes(std::span(&header_size, 1));
  pieces[1] = std::as_bytes(std::span(text.data(), text.size()));
  write_file_atomic(path, pieces);
}

}  // namespace frostline
