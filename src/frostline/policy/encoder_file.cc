#include <utility>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/core/safetensors.h"
#include "frostline/policy/ar_actor_encoder.h"
#include "frostline/policy/checkpoint.h"

namespace frostline::policy {
namespace {

constexpr const char* kFormat = "frostline.encoder.1";

const std::string& metadata_at(const SafeTensors& content,
                               const std::string& key,
                               const std::filesystem::path& path) {
  const auto found = content.metadata.find(key);
  FROSTLINE_REQUIRE(
      found != content.metadata.end(),
      ErrorCode::kData,
      "file is no encoder of this program",
      fmt::format(
          "missing metadata={} file={} ; make one with 'frostline pretrain'", key, path.string()));
  return found->second;
}

}  // namespace

Fingerprint encoder_fingerprint(const ArActorSpec& spec, const ParameterSet& parameters) {
  Fingerprinter fingerprinter;
  for (const std::int64_t value : {spec.image_height_px,
                                   spec.image_width_px,
                                   spec.backbone_width,
                                   spec.dim,
                                   spec.num_heads,
                                   spec.ffn_dim,
                                   spec.num_encoder_layers}) {
    fingerprinter.add(value);
  }
  fingerprinter.add(std::string_view(parameters.fingerprint().hex));
  return fingerprinter.finish();
}

Fingerprint write_encoder(const std::filesystem::path& path,
                          const ArActorSpec& spec,
                          const ParameterSet& parameters,
                          DType storage) {
  FROSTLINE_CHECK(storage == DType::kF32 || storage == DType::kF16);
  SafeTensors content;
  content.tensors = parameters.to_host();
  ParameterSet stored(encoder_parameter_specs(spec));
  if (storage == DType::kF16) {
    for (auto& [name, tensor] : content.tensors) {
      tensor = from_f32(tensor, storage);
    }
  }
  stored.load(content.tensors, path.string());
  const Fingerprint fingerprint = encoder_fingerprint(spec, stored);
  content.metadata = {
      {"format", kFormat}, {"spec", to_json(spec).dump()}, {"fingerprint", fingerprint.hex}};
  write_safetensors(path, content);
  return fingerprint;
}

EncoderFile read_encoder(const std::filesystem::path& path, at::Device device) {
  if (std::filesystem::is_directory(path)) {
    ArActorCheckpoint checkpoint = read_checkpoint(path, device);
    Fingerprint fingerprint = encoder_fingerprint(checkpoint.spec, checkpoint.encoder);
    return {checkpoint.spec, std::move(checkpoint.encoder), std::move(fingerprint)};
  }
  const SafeTensors content = read_safetensors(path);
  const std::string& format = metadata_at(content, "format", path);
  FROSTLINE_REQUIRE(format == kFormat,
                    ErrorCode::kData,
                    "encoder file of another format",
                    fmt::format("expected={} found={} file={} ; make one with 'frostline pretrain'",
                                kFormat,
                                format,
                                path.string()));
  const ArActorSpec spec =
      ar_actor_spec_from_json(parse_json(metadata_at(content, "spec", path), path.string()));
  EncoderFile file{spec, ParameterSet(encoder_parameter_specs(spec), device), {}};
  file.parameters.load(content.tensors, path.string());
  file.fingerprint = encoder_fingerprint(spec, file.parameters);
  const std::string& recorded = metadata_at(content, "fingerprint", path);
  FROSTLINE_REQUIRE(file.fingerprint.hex == recorded,
                    ErrorCode::kData,
                    "encoder file does not hold the weights it was written with",
                    fmt::format("recorded={} found={} file={} ; restore the file or run 'frostline "
                                "pretrain'",
                                recorded,
                                file.fingerprint.hex,
                                path.string()));
  return file;
}

}  // namespace frostline::policy
