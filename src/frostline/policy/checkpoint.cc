#include "frostline/policy/checkpoint.h"

#include <utility>

#include <unistd.h>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/core/file.h"
#include "frostline/core/safetensors.h"
#include "frostline/policy/ar_actor_encoder.h"
#include "frostline/policy/ar_actor_expert.h"

namespace frostline::policy {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStateFeature = "observation.state";
constexpr const char* kActionFeature = "action";
constexpr const char* kNormaliserFile =
    "policy_preprocessor_step_3_normalizer_processor.safetensors";
constexpr const char* kUnnormaliserFile =
    "policy_postprocessor_step_0_unnormalizer_processor.safetensors";

Json feature(const char* type, const Shape& shape) {
  return {{"type", type}, {"shape", shape}};
}

Json input_features(const ArActorSpec& spec) {
  return {{kStateFeature, feature("STATE", {spec.state_dim})},
          {spec.camera, feature("VISUAL", {3, spec.image_height_px, spec.image_width_px})}};
}

Json output_features(const ArActorSpec& spec) {
  return {{kActionFeature, feature("ACTION", {spec.action_dim})}};
}

Json policy_config(const ArActorSpec& spec) {
  Json config = {{"type", "ar_actor"},
                 {"n_obs_steps", 1},
                 {"input_features", input_features(spec)},
                 {"output_features", output_features(spec)},
                 {"device", "cpu"},
                 {"use_amp", false},
                 {"use_peft", false},
                 {"push_to_hub", false},
                 {"repo_id", nullptr},
                 {"private", nullptr},
                 {"tags", nullptr},
                 {"license", nullptr},
                 {"pretrained_path", nullptr},
                 {"pretrained_revision", nullptr},
                 {"n_action_steps", spec.vision_interval}};
  config.update(to_json(spec));
  return config;
}

Json normaliser_config(const Json& features) {
  return {{"eps", 1e-8},
          {"features", features},
          {"norm_map", {{"VISUAL", "MEAN_STD"}, {"STATE", "MEAN_STD"}, {"ACTION", "MEAN_STD"}}}};
}

Json step(const char* name, Json config) {
  return {{"registry_name", name}, {"config", std::move(config)}};
}

Json preprocessor(const ArActorSpec& spec) {
  Json features = input_features(spec);
  features.update(output_features(spec));
  Json normaliser = step("normalizer_processor", normaliser_config(features));
  normaliser["state_file"] = kNormaliserFile;
  return {{"name", "policy_preprocessor"},
          {"steps",
           Json::array({step("rename_observations_processor", {{"rename_map", Json::object()}}),
                        step("to_batch_processor", Json::object()),
                        step("device_processor", {{"device", "cpu"}, {"float_dtype", nullptr}}),
                        std::move(normaliser)})}};
}

Json postprocessor(const ArActorSpec& spec) {
  Json unnormaliser = step("unnormalizer_processor", normaliser_config(output_features(spec)));
  unnormaliser["state_file"] = kUnnormaliserFile;
  return {{"name", "policy_postprocessor"},
          {"steps",
           Json::array({std::move(unnormaliser),
                        step("device_processor", {{"device", "cpu"}, {"float_dtype", nullptr}})})}};
}

HostTensor host_vector(const std::vector<float>& values, Shape shape = {}) {
  if (shape.empty()) {
    shape = {static_cast<std::int64_t>(values.size())};
  }
  return HostTensor::from<float>(shape, values);
}

SafeTensors statistics_of(const ArActorCheckpointView& view) {
  SafeTensors content;
  const auto add = [&](const std::string& name, const Normaliser& normaliser) {
    content.tensors[name + ".mean"] = host_vector(normaliser.mean());
    content.tensors[name + ".std"] = host_vector(normaliser.std());
  };
  add(kStateFeature, view.state);
  add(kActionFeature, view.action);
  content.tensors[view.spec.camera + ".mean"] =
      host_vector(std::vector<float>(kImageMean.begin(), kImageMean.end()), {3, 1, 1});
  content.tensors[view.spec.camera + ".std"] =
      host_vector(std::vector<float>(kImageStd.begin(), kImageStd.end()), {3, 1, 1});
  return content;
}

Normaliser normaliser_from(const SafeTensors& content,
                           const std::string& name,
                           std::int64_t size,
                           const fs::path& file) {
  const auto values_of = [&](const std::string& key) {
    const auto found = content.tensors.find(key);
    FROSTLINE_REQUIRE(found != content.tensors.end(),
                      ErrorCode::kData,
                      "statistic missing in a checkpoint",
                      fmt::format("tensor={} file={} ; without it states and actions would pass "
                                  "unscaled: use a complete checkpoint",
                                  key,
                                  file.string()));
    const HostTensor values = to_f32(found->second);
    FROSTLINE_REQUIRE(values.shape() == Shape{size},
                      ErrorCode::kData,
                      "tensor of another shape in a checkpoint",
                      fmt::format("tensor={} expected=[{}] found={} file={} ; use a checkpoint of "
                                  "the same policy",
                                  key,
                                  size,
                                  to_string(values.shape()),
                                  file.string()));
    const auto data = values.data<float>();
    return std::vector<float>(data.begin(), data.end());
  };
  // What was stored is what the policy was trained with: no floor here.
  return {values_of(name + ".mean"), values_of(name + ".std"), 0.0F};
}

ArActorSpec spec_from_config(const fs::path& file) {
  const Json config = read_json(file);
  const auto type = config.find("type");
  FROSTLINE_REQUIRE(
      type != config.end() && type->is_string(),
      ErrorCode::kData,
      "policy type missing in a checkpoint",
      fmt::format("key=type file={} ; use a checkpoint's config.json", file.string()));
  FROSTLINE_REQUIRE(*type == "ar_actor",
                    ErrorCode::kData,
                    "checkpoint of another policy",
                    fmt::format("expected=ar_actor found={} file={} ; name the policy that the "
                                "checkpoint holds",
                                type->get<std::string>(),
                                file.string()));
  return ar_actor_spec_from_json(config);
}

}  // namespace

void write_checkpoint(const fs::path& folder, const ArActorCheckpointView& view) {
  const fs::path beside = folder.string() + fmt::format(".partial-{}", ::getpid());
  std::error_code ignored;
  fs::remove_all(beside, ignored);
  std::error_code failure;
  fs::create_directories(beside, failure);
  FROSTLINE_REQUIRE(!failure,
                    ErrorCode::kIo,
                    "cannot create a checkpoint folder",
                    fmt::format("folder={} reason={}", beside.string(), failure.message()));
  try {
    write_json(beside / "config.json", policy_config(view.spec));
    SafeTensors weights;
    weights.tensors = view.encoder.to_host();
    weights.tensors.merge(view.expert.to_host());
    weights.metadata["format"] = "pt";
    write_safetensors(beside / "model.safetensors", weights);
    if (view.train_config) {
      write_json(beside / "train_config.json", *view.train_config);
    }
    write_json(beside / "policy_preprocessor.json", preprocessor(view.spec));
    write_json(beside / "policy_postprocessor.json", postprocessor(view.spec));
    const SafeTensors statistics = statistics_of(view);
    write_safetensors(beside / kNormaliserFile, statistics);
    write_safetensors(beside / kUnnormaliserFile, statistics);
    replace_folder(beside, folder);
  } catch (...) {
    fs::remove_all(beside, ignored);
    throw;
  }
}

ArActorCheckpoint read_checkpoint(const fs::path& folder, at::Device device) {
  const fs::path model =
      fs::exists(folder / "pretrained_model") ? folder / "pretrained_model" : folder;
  const ArActorSpec spec = spec_from_config(model / "config.json");
  const fs::path weights_file = model / "model.safetensors";
  const SafeTensors weights = read_safetensors(weights_file);
  const fs::path statistics_file = model / kNormaliserFile;
  const SafeTensors statistics = read_safetensors(statistics_file);
  ArActorCheckpoint checkpoint{
      spec,
      ParameterSet(encoder_parameter_specs(spec), device),
      ParameterSet(expert_parameter_specs(spec), device),
      normaliser_from(statistics, kStateFeature, spec.state_dim, statistics_file),
      normaliser_from(statistics, kActionFeature, spec.action_dim, statistics_file)};
  for (const auto& [name, tensor] : weights.tensors) {
    FROSTLINE_REQUIRE(checkpoint.encoder.contains(name) || checkpoint.expert.contains(name),
                      ErrorCode::kData,
                      "unexpected tensor in a checkpoint",
                      fmt::format("tensor={} shape={} file={} ; config.json and weights do not "
                                  "belong together: restore both from one checkpoint",
                                  name,
                                  to_string(tensor.shape()),
                                  weights_file.string()));
  }
  checkpoint.encoder.load_subset(weights.tensors, weights_file.string());
  checkpoint.expert.load_subset(weights.tensors, weights_file.string());
  return checkpoint;
}

}  // namespace frostline::policy
