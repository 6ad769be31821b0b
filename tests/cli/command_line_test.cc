#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/file.h"
#include "frostline/core/json.h"
#include "tests/data/recording.h"
#include "tests/support/process.h"
#include "tests/support/temp_folder.h"

namespace frostline::cli {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;

test::Ended frostline(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), FROSTLINE_PROGRAM);
  return test::run_program(arguments);
}

std::vector<test::Ended> frostline_all(std::vector<std::vector<std::string>> calls) {
  for (auto& arguments : calls) {
    arguments.insert(arguments.begin(), FROSTLINE_PROGRAM);
  }
  return test::run_programs(calls);
}

std::string demo_encoder() {
  return std::string(FROSTLINE_EXAMPLES) + "/encoder.safetensors";
}

struct Verb {
  std::vector<std::string> words;
  std::vector<std::string> options;
};

std::vector<Verb> every_verb() {
  return {Verb{{"demo"}, {"--quick", "--steps", "--rollouts", "--backend", "--declared-power"}},
          Verb{{"doctor"}, {}},
          Verb{{"data", "inspect"}, {"path"}},
          Verb{{"data", "verify"}, {"path", "--strict"}},
          Verb{{"data", "record"}, {"--task", "--episodes", "--codec", "--height", "--width"}},
          Verb{{"pretrain"}, {"--dataset", "--preset", "--steps", "--batch-size", "--resume"}},
          Verb{{"train"},
               {"--dataset",
                "--policy",
                "--encoder",
                "--boundary",
                "--source",
                "--backend",
                "--encoder-precision",
                "--train-precision",
                "--loss-reduction",
                "--steps",
                "--batch-size",
                "--resume",
                "--artefact",
                "--cache-dir",
                "--allow-inexact"}},
          Verb{{"encoder", "quantise"}, {"--dataset", "--encoder", "--boundary", "--batch-size"}},
          Verb{{"encoder", "parity"}, {"--dataset", "--encoder", "--artefact"}},
          Verb{{"cache", "info"}, {"--cache-dir"}},
          Verb{{"cache", "verify"}, {"--cache-dir"}},
          Verb{{"eval"}, {"checkpoint", "--task", "--seeds", "--artefact", "--shuffle-images"}},
          Verb{{"compare"}, {"outcomes", "--margin"}},
          Verb{{"policy", "info"}, {"checkpoint", "--preset"}}};
}

TEST(Help, NamesEveryOptionAndSucceeds) {
  const auto verbs = every_verb();
  std::vector<std::vector<std::string>> calls;
  for (const auto& verb : verbs) {
    calls.push_back(verb.words);
    calls.back().push_back("--help");
  }
  const auto results = frostline_all(calls);
  for (std::size_t i = 0; i < verbs.size(); ++i) {
    SCOPED_TRACE(::testing::PrintToString(verbs[i].words));
    EXPECT_EQ(results[i].exit_code, 0) << results[i].err;
    EXPECT_EQ(results[i].err, "");
    for (const std::string common : {"--json", "--out", "--seed", "--config"}) {
      EXPECT_THAT(results[i].out, HasSubstr(common));
    }
    for (const auto& option : verbs[i].options) {
      EXPECT_THAT(results[i].out, HasSubstr(option));
    }
  }
}

TEST(CommandLine, HelpAndVersionSucceed) {
  const auto help = frostline({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const std::string verb : {"demo",
                                 "doctor",
                                 "data",
                                 "pretrain",
                                 "train",
                                 "encoder",
                                 "cache",
                                 "eval",
                                 "compare",
                                 "policy"}) {
    EXPECT_THAT(help.out, HasSubstr(verb));
  }
  const auto version = frostline({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, ::testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(CommandLine, UnknownOrMissingVerbOrOptionIsAUsageError) {
  const std::vector<std::vector<std::string>> calls = {{},
                                                       {"frobnicate"},
                                                       {"doctor", "--frobnicate"},
                                                       {"train", "--frobnicate=3"},
                                                       {"policy", "info", "--frobnicate"}};
  const auto results = frostline_all(calls);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(::testing::PrintToString(calls[i]));
    EXPECT_EQ(results[i].exit_code, 2);
    EXPECT_EQ(results[i].out, "");
    EXPECT_NE(results[i].err, "");
  }
}

TEST(CommandLine, UnknownConfigurationKeyNamesTheNearest) {
  const test::TempFolder folder;
  const auto file = folder.path() / "train.toml";
  write_file_atomic(file, "dataset = \"x\"\nencoder = \"y\"\nbatch_sise = 4\n");
  const auto ended = frostline({"train", "--config", file.string()});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("batch_sise"));
  EXPECT_THAT(ended.err, HasSubstr("batch-size"));
  EXPECT_THAT(ended.err, HasSubstr(file.string()));
  EXPECT_EQ(ended.out, "");
}

TEST(CommandLine, ConfigurationAndFlagsMeetAndFlagsWin) {
  const test::TempFolder folder;
  const auto file = folder.path() / "policy.toml";
  write_file_atomic(file, "preset = \"paper\"\njson = true\n");
  const auto flag = frostline({"policy", "info", "--config=" + file.string(), "--preset", "demo"});
  ASSERT_EQ(flag.exit_code, 0) << flag.err;
  EXPECT_EQ(Json::parse(flag.out).at("preset"), "demo");
}

TEST(CommandLine, MissingOrMalformedConfigurationIsNamed) {
  const test::TempFolder folder;
  const auto file = folder.path() / "a.toml";
  const auto missing = frostline({"policy", "info", "--config", file.string()});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err, HasSubstr(file.string()));
  write_file_atomic(file, "preset = \n");
  const auto malformed = frostline({"policy", "info", "--config", file.string()});
  EXPECT_EQ(malformed.exit_code, 2);
  EXPECT_THAT(malformed.err, HasSubstr(file.string()));
}

/// A training with these flags, its exit code and a word of what it says.
struct Refused {
  std::vector<std::string> flags;
  int exit_code;
  std::string word;
};

TEST(CommandLine, BadInputHasItsExitCodeAndIsNamed) {
  const test::TempFolder folder;
  const std::vector<Refused> cases = {
      {{"--boundary", "L5"}, 2, "L5"},
      {{"--source", "magic"}, 2, "magic"},
      {{"--steps", "many"}, 2, "many"},
      {{"--steps", "0"}, 2, "--steps=0"},
      {{"--episodes", "3:1"}, 2, "3:1"},
      {{"--source", "auto"}, 4, "no planner"},
      {{"--device", "tpu"}, 2, "tpu"},
      {{"--policy", "act"}, 4, "act"},
      {{}, 3, "/no/such/set"},
      {{"--encoder", "/no/encoder"}, 3, "/no/encoder"},
      {{"--encoder", "/etc/hostname"}, 3, "/etc/hostname"},
  };
  std::vector<std::vector<std::string>> calls;
  for (const auto& refused : cases) {
    calls.push_back({"train",
                     "--dataset",
                     "/no/such/set",
                     "--encoder",
                     demo_encoder(),
                     "--out",
                     folder.path().string()});
    calls.back().insert(calls.back().end(), refused.flags.begin(), refused.flags.end());
  }
  const auto results = frostline_all(calls);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(::testing::PrintToString(cases[i].flags));
    EXPECT_EQ(results[i].exit_code, cases[i].exit_code) << results[i].err;
    EXPECT_THAT(results[i].err, HasSubstr(cases[i].word));
    EXPECT_EQ(results[i].out, "");
  }
}

TEST(CommandLine, MissingInputIsAnInputError) {
  const auto results = frostline_all({{"data", "inspect", "/no/such/set"},
                                      {"eval", "/no/checkpoint"},
                                      {"compare", "/no/a.parquet", "/no/b.parquet"}});
  for (const auto& ended : results) {
    EXPECT_EQ(ended.exit_code, 3) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("/no/"));
  }
}

TEST(CommandLine, PaperPresetHasThePublishedParameters) {
  const auto ended = frostline({"policy", "info", "--preset", "paper", "--json"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const Json info = Json::parse(ended.out);
  EXPECT_EQ(info.at("policy"), "ar_actor");
  EXPECT_EQ(info.at("preset"), "paper");
  EXPECT_FALSE(info.at("stages").empty());
  const Json& parameters = info.at("parameters");
  EXPECT_EQ(parameters.at("encoder"), 28'771'520);
  EXPECT_EQ(parameters.at("expert"), 22'743'708);
  EXPECT_EQ(parameters.at("total"), 28'771'520 + 22'743'708);
  std::int64_t sum = 0;
  for (const auto& [module, count] : parameters.at("by_module").items()) {
    sum += count.get<std::int64_t>();
  }
  EXPECT_EQ(sum, parameters.at("total"));
}

TEST(CommandLine, PolicyInfoNeedsExactlyOnePolicy) {
  const auto results = frostline_all({{"policy", "info"},
                                      {"policy", "info", demo_encoder(), "--preset", "demo"},
                                      {"policy", "info", "--preset", "huge"},
                                      {"policy", "info", demo_encoder(), "--json"}});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(results[i].exit_code, 2) << i;
  }
  const auto& shipped = results[3];
  ASSERT_EQ(shipped.exit_code, 0) << shipped.err;
  EXPECT_EQ(Json::parse(shipped.out).at("policy"), "ar_actor");
}

TEST(CommandLine, DoctorDescribesTheMachineInOneDocument) {
  const auto ended = frostline({"doctor", "--json"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const Json document = Json::parse(ended.out);
  EXPECT_TRUE(document.at("version").is_string());
  for (const auto& [name, version] : document.at("libraries").items()) {
    EXPECT_TRUE(version.is_null() || (version.is_string() && version != "")) << name;
  }
  EXPECT_TRUE(document.at("libraries").contains("libtorch"));
  bool has_openvino = false;
  ASSERT_FALSE(document.at("devices").empty());
  for (const auto& device : document.at("devices")) {
    has_openvino = has_openvino || device.at("backend") == "openvino";
    EXPECT_TRUE(device.at("precisions").is_array());
    if (!device.at("usable").get<bool>()) {
      EXPECT_NE(device.at("reason"), "") << device.dump();
    }
  }
  EXPECT_TRUE(has_openvino);
  ASSERT_FALSE(document.at("meters").empty());
  for (const auto& meter : document.at("meters")) {
    EXPECT_NE(meter.at("domain"), "");
    if (meter.at("kind") == "unmeasured") {
      EXPECT_TRUE(meter.at("reason").is_string()) << meter.dump();
    }
  }
}

TEST(CommandLine, EmptyCacheIsListed) {
  const test::TempFolder folder;
  for (const std::string verb : {"info", "verify"}) {
    const auto ended = frostline({"cache", verb, "--json", "--cache-dir", folder.path().string()});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_TRUE(Json::parse(ended.out).is_object());
  }
}

class DataVerb : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    whole_ = std::make_unique<test::TempFolder>();
    data::record(whole_->path() / "set", data::small_options("raw"), {5, 4});
  }

  static void TearDownTestSuite() { whole_.reset(); }

  void SetUp() override { fs::copy(whole_->path() / "set", set_, fs::copy_options::recursive); }

  test::TempFolder folder_;
  fs::path set_ = folder_.path() / "set";
  static std::unique_ptr<test::TempFolder> whole_;
};

std::unique_ptr<test::TempFolder> DataVerb::whole_;

TEST_F(DataVerb, GoodSetHasNoFindings) {
  const auto ended = frostline({"data", "verify", set_.string(), "--json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(Json::parse(ended.out), Json::parse(R"({"findings":[]})"));
  const auto info = frostline({"data", "inspect", set_.string(), "--json"});
  EXPECT_EQ(info.exit_code, 0) << info.err;
  EXPECT_TRUE(Json::parse(info.out).is_object());
}

TEST_F(DataVerb, DamagedSetIsAnErrorWithItsFindings) {
  fs::resize_file(set_ / "data/chunk-000/file-000.parquet", 100);
  const auto ended = frostline({"data", "verify", set_.string(), "--json"});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_THAT(ended.err, HasSubstr(set_.string()));
  const Json findings = Json::parse(ended.out).at("findings");
  ASSERT_FALSE(findings.empty());
  for (const auto& finding : findings) {
    for (const char* key : {"severity", "code", "file", "episode", "frame", "message", "remedy"}) {
      EXPECT_TRUE(finding.contains(key)) << key;
    }
  }
  EXPECT_EQ(findings[0].at("severity"), "error");
  EXPECT_THAT(findings[0].at("file").get<std::string>(), HasSubstr("file-000.parquet"));
  EXPECT_EQ(frostline({"data", "inspect", set_.string()}).exit_code, 3);
}

TEST_F(DataVerb, DataSetThatDoesNotFitThePolicyIsAConfigurationError) {
  const auto ended = frostline({"train",
                                "--dataset",
                                set_.string(),
                                "--encoder",
                                demo_encoder(),
                                "--out",
                                (folder_.path() / "run").string()});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("64x96"));
  EXPECT_THAT(ended.err, HasSubstr("240x320"));
}

}  // namespace
}  // namespace frostline::cli
