#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/policy/ar_actor_encoder.h"
#include "frostline/policy/ar_actor_expert.h"
#include "frostline/policy/policy_info.h"

namespace frostline::policy {
namespace {

using testing::HasSubstr;

TEST(ArActorSpec, SurvivesJson) {
  ArActorSpec spec = ar_actor_preset("demo");
  spec.camera = "observation.images.wrist";
  spec.dropout = 0.25;
  EXPECT_EQ(ar_actor_spec_from_json(to_json(spec)), spec);
}

TEST(ArActorSpec, RefusesAnUnknownPreset) {
  try {
    ar_actor_preset("papr");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("found=papr ; use paper or demo"));
  }
}

TEST(ArActorSpec, RefusesMissingAndInconsistentKeys) {
  const auto text_of = [](const Json& document) {
    try {
      ar_actor_spec_from_json(document);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kConfig);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  Json document = to_json(ArActorSpec{});
  document.erase("chunk");
  EXPECT_THAT(text_of(document), HasSubstr("key=chunk"));
  document = to_json(ArActorSpec{});
  document["chunk"] = "twenty";
  EXPECT_THAT(text_of(document), HasSubstr("key=chunk value=\"twenty\""));
  document = to_json(ArActorSpec{});
  document["num_heads"] = 7;
  EXPECT_THAT(text_of(document), HasSubstr("dim=512 num_heads=7"));
  document = to_json(ArActorSpec{});
  document["num_decoder_layers"] = 5;
  EXPECT_THAT(text_of(document), HasSubstr("num_decoder_layers=5 num_encoder_layers=4"));
}

// Source: table I of the offloading paper, matched by specs of AR-VLA.
TEST(ArActor, HasThePublishedNumberOfParameters) {
  const ArActorSpec spec = ar_actor_preset("paper");
  const ParameterSet encoder(encoder_parameter_specs(spec));
  const ParameterSet expert(expert_parameter_specs(spec));
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < expert.size(); ++i) {
    elements += expert[i].numel();
  }
  EXPECT_EQ(elements, 22'743'708);
  elements = 0;
  for (std::size_t i = 0; i < encoder.size(); ++i) {
    elements += encoder.specs()[i].role == ParameterRole::kWeight ? encoder[i].numel() : 0;
  }
  EXPECT_EQ(elements, 28'771'520);
  EXPECT_EQ(encoder.count(ParameterRole::kNormAffine), 9'600);
  EXPECT_EQ(encoder.at("model.encoder_latent_input_proj.weight").numel() +
                encoder.at("model.encoder_latent_input_proj.bias").numel() +
                encoder.at("model.encoder_1d_feature_pos_embed.weight").numel(),
            17'408);
}

TEST(PolicyInfo, CountsByModule) {
  const Json result = info(ar_actor_preset("paper"));
  EXPECT_EQ(result["policy"], "ar_actor");
  EXPECT_EQ(result["preset"], "paper");
  EXPECT_EQ(result["stages"],
            Json::array({"backbone", "projection", "layer_0", "layer_1", "layer_2", "layer_3"}));
  const Json& parameters = result["parameters"];
  EXPECT_EQ(parameters["encoder"], 28'771'520);
  EXPECT_EQ(parameters["expert"], 22'743'708);
  EXPECT_EQ(parameters["total"], 51'515'228);
  const Json& by_module = parameters["by_module"];
  EXPECT_EQ(by_module["backbone"], 11'166'912);
  EXPECT_EQ(by_module["encoder_img_feat_input_proj"], 262'656);
  EXPECT_EQ(by_module["encoder.layers.3"], 4'331'136);
  EXPECT_EQ(by_module["decoder.layers.0"], 4'331'136);
  EXPECT_EQ(by_module["act_decoder.layers.0"], 5'384'832);
  std::int64_t sum = 0;
  for (const auto& [name, n] : by_module.items()) {
    sum += n.get<std::int64_t>();
  }
  EXPECT_EQ(sum, 51'515'228);
  ArActorSpec other;
  other.dim = 256;
  EXPECT_TRUE(info(other)["preset"].is_null());
}

}  // namespace
}  // namespace frostline::policy
