#include "frostline/policy/checkpoint.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/core/safetensors.h"
#include "tests/policy/tiny_policy.h"
#include "tests/support/temp_folder.h"

namespace frostline::policy {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Checkpoint : public testing::Test {
 protected:
  Checkpoint() : model_(folder_.path() / "000010" / "pretrained_model") {
    write_checkpoint(
        model_, {tiny_.spec, tiny_.encoder, tiny_.expert, state_, action_, Json{{"steps", 10}}});
  }

  template <class Edit>
  void edit_weights(Edit edit) const {
    SafeTensors content = read_safetensors(model_ / "model.safetensors");
    edit(content.tensors);
    write_safetensors(model_ / "model.safetensors", content);
  }

  std::string failure(ErrorCode code = ErrorCode::kData) const {
    try {
      read_checkpoint(model_);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      return error.what();
    }
    return "accepted";
  }

  test::TempFolder folder_;
  test::TinyPolicy tiny_;
  Normaliser state_{{1, 2, 3, 4, 5}, {0.001F, 1, 1, 1, 2}};
  Normaliser action_{{1, 2, 3}, {1, 2, 3}};
  fs::path model_;
};

TEST_F(Checkpoint, RoundTripKeepsEveryBit) {
  for (const fs::path& path : {model_, model_.parent_path()}) {
    const ArActorCheckpoint read = read_checkpoint(path);
    EXPECT_EQ(read.spec, tiny_.spec);
    EXPECT_EQ(read.encoder.fingerprint(), tiny_.encoder.fingerprint());
    EXPECT_EQ(read.expert.fingerprint(), tiny_.expert.fingerprint());
    EXPECT_EQ(read.state.mean(), state_.mean());
    EXPECT_EQ(read.state.std(), state_.std());
    EXPECT_EQ(read.action.std(), action_.std());
  }
}

TEST_F(Checkpoint, HasTheLayoutOfLeRobot) {
  for (const char* name : {"config.json",
                           "model.safetensors",
                           "train_config.json",
                           "policy_preprocessor.json",
                           "policy_preprocessor_step_3_normalizer_processor.safetensors",
                           "policy_postprocessor.json",
                           "policy_postprocessor_step_0_unnormalizer_processor.safetensors"}) {
    EXPECT_TRUE(fs::exists(model_ / name)) << name;
  }
  const Json config = read_json(model_ / "config.json");
  EXPECT_EQ(config["type"], "ar_actor");
  EXPECT_EQ(config["input_features"]["observation.state"]["shape"], Json::array({5}));
  EXPECT_EQ(config["output_features"]["action"]["type"], "ACTION");
  const Json processor = read_json(model_ / "policy_preprocessor.json");
  EXPECT_EQ(processor["steps"][3]["registry_name"], "normalizer_processor");
  EXPECT_TRUE(fs::exists(model_ / processor["steps"][3]["state_file"].get<std::string>()));
  const SafeTensors weights = read_safetensors(model_ / "model.safetensors");
  EXPECT_TRUE(weights.tensors.contains("model.backbone.layer2.0.downsample.1.running_var"));
  EXPECT_TRUE(weights.tensors.contains("model.decoder.layers.3.self_attn.out_proj.weight"));
  EXPECT_TRUE(weights.tensors.contains("model.act_decoder.layers.0.multihead_attn.in_proj_bias"));
  // Written beside and renamed: nothing is left.
  EXPECT_EQ(std::distance(fs::directory_iterator(model_.parent_path()), {}), 1);
}

TEST_F(Checkpoint, WritingAgainReplaces) {
  tiny_.expert.initialise(5);
  write_checkpoint(model_,
                   {tiny_.spec, tiny_.encoder, tiny_.expert, state_, action_, std::nullopt});
  EXPECT_FALSE(fs::exists(model_ / "train_config.json"));
  EXPECT_EQ(read_checkpoint(model_).expert.fingerprint(), tiny_.expert.fingerprint());
}

TEST_F(Checkpoint, RefusesWeightsThatDoNotFit) {
  edit_weights([](NamedTensors& tensors) {
    tensors["model.action_head.weight"] = HostTensor(DType::kF32, {4, 32});
  });
  EXPECT_THAT(failure(),
              testing::AllOf(HasSubstr("tensor=model.action_head.weight"),
                             HasSubstr("expected=[3, 32] found=[4, 32]"),
                             HasSubstr("model.safetensors"),
                             HasSubstr("use a")));
  edit_weights([](NamedTensors& tensors) { tensors.erase("model.action_head.weight"); });
  EXPECT_THAT(failure(), HasSubstr("tensor missing in a checkpoint: tensor=model.action_head"));
}

TEST_F(Checkpoint, RefusesUnexpectedTensors) {
  edit_weights([](NamedTensors& tensors) {
    tensors["model.vae_encoder_cls_embed.weight"] = HostTensor(DType::kF32, {1, 32});
  });
  EXPECT_THAT(failure(),
              HasSubstr("unexpected tensor in a checkpoint: "
                        "tensor=model.vae_encoder_cls_embed.weight"));
}

TEST_F(Checkpoint, RefusesAnotherPolicyAndMissingStatistics) {
  const fs::path statistics =
      model_ / "policy_preprocessor_step_3_normalizer_processor.safetensors";
  SafeTensors content = read_safetensors(statistics);
  content.tensors.erase("action.std");
  write_safetensors(statistics, content);
  EXPECT_THAT(failure(), HasSubstr("tensor=action.std"));
  Json config = read_json(model_ / "config.json");
  config["type"] = "act";
  write_json(model_ / "config.json", config);
  EXPECT_THAT(failure(), HasSubstr("expected=ar_actor found=act"));
  config.erase("type");
  write_json(model_ / "config.json", config);
  EXPECT_THAT(failure(), HasSubstr("policy type missing"));
  fs::remove(model_ / "config.json");
  EXPECT_THAT(failure(ErrorCode::kIo), HasSubstr("config.json"));
}

TEST_F(Checkpoint, EncoderComesFromEitherKindOfFile) {
  const fs::path file = folder_.path() / "encoder.safetensors";
  const Fingerprint written = write_encoder(file, tiny_.spec, tiny_.encoder);
  const EncoderFile read = read_encoder(file);
  EXPECT_EQ(read.spec, tiny_.spec);
  EXPECT_EQ(read.fingerprint, written);
  EXPECT_EQ(read.parameters.fingerprint(), tiny_.encoder.fingerprint());
  EXPECT_EQ(read_encoder(model_).fingerprint, written);
}

TEST_F(Checkpoint, EncoderInHalfPrecisionKeepsItsFingerprint) {
  const fs::path file = folder_.path() / "encoder.safetensors";
  const Fingerprint written = write_encoder(file, tiny_.spec, tiny_.encoder, DType::kF16);
  const EncoderFile read = read_encoder(file);
  EXPECT_EQ(read.fingerprint, written);
  EXPECT_NE(read.fingerprint, encoder_fingerprint(tiny_.spec, tiny_.encoder));
  // Written again, the rounded values no longer change.
  EXPECT_EQ(write_encoder(file, read.spec, read.parameters, DType::kF16), written);
}

TEST_F(Checkpoint, RefusesAnEncoderWithOtherWeightsThanRecorded) {
  const fs::path file = folder_.path() / "encoder.safetensors";
  write_encoder(file, tiny_.spec, tiny_.encoder);
  SafeTensors content = read_safetensors(file);
  content.tensors["model.encoder.layers.0.norm1.bias"].data<float>()[0] = 1.0F;
  write_safetensors(file, content);
  try {
    read_encoder(file);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_THAT(error.what(), HasSubstr("does not hold the weights it was written with"));
  }
  write_safetensors(file, {.tensors = {}, .metadata = {}});
  EXPECT_THROW(read_encoder(file), Error);
}

}  // namespace
}  // namespace frostline::policy
