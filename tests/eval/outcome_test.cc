#include "frostline/eval/outcome.h"

#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"
#include "frostline/data/table.h"

namespace frostline::eval {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class OutcomeFile : public ::testing::Test {
 protected:
  std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                ("frostline_outcomes_" + std::to_string(getpid()) + ".parquet");

  void TearDown() override { std::filesystem::remove(path_); }

  std::string error_of_reading() const {
    try {
      read_outcomes(path_);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kData);
      return error.what();
    }
    return "no error";
  }
};

Outcome measured_success() {
  Outcome outcome;
  outcome.task = "fake";
  outcome.condition = "live_int8";
  outcome.train_seed = 3;
  outcome.env_seed = 11;
  outcome.features = "int8";
  outcome.control = "none";
  outcome.kind = OutcomeKind::kSuccess;
  outcome.steps = 290;
  outcome.reward_stage = 4;
  outcome.duration_s = 1.5;
  outcome.energy_j = 20.25;
  outcome.checkpoint = "abc";
  return outcome;
}

TEST_F(OutcomeFile, RoundTripKeepsEverythingAndNullEnergy) {
  std::vector<Outcome> outcomes = {measured_success(), measured_success()};
  outcomes[1].kind = OutcomeKind::kInfrastructureFailure;
  outcomes[1].env_seed = 12;
  outcomes[1].energy_j.reset();
  write_outcomes(path_, outcomes);
  const auto read = read_outcomes(path_);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].task, "fake");
  EXPECT_EQ(read[0].condition, "live_int8");
  EXPECT_EQ(read[0].train_seed, 3);
  EXPECT_EQ(read[0].env_seed, 11U);
  EXPECT_EQ(read[0].features, "int8");
  EXPECT_EQ(read[0].control, "none");
  EXPECT_EQ(read[0].kind, OutcomeKind::kSuccess);
  EXPECT_EQ(read[0].steps, 290);
  EXPECT_EQ(read[0].reward_stage, 4);
  EXPECT_EQ(read[0].duration_s, 1.5);
  EXPECT_EQ(read[0].energy_j, 20.25);
  EXPECT_EQ(read[0].checkpoint, "abc");
  EXPECT_EQ(read[1].kind, OutcomeKind::kInfrastructureFailure);
  EXPECT_FALSE(read[1].energy_j.has_value());
}

TEST_F(OutcomeFile, AllUnmeasuredEnergyIsReadBackAsUnmeasured) {
  Outcome outcome = measured_success();
  outcome.energy_j.reset();
  write_outcomes(path_, std::vector<Outcome>{outcome});
  EXPECT_FALSE(read_outcomes(path_).at(0).energy_j.has_value());
}

TEST_F(OutcomeFile, MissingColumnIsNamedWithTheFile) {
  data::write_table(path_, {.columns = {"task"}, .rows = {{std::string("fake")}}});
  EXPECT_THAT(error_of_reading(), AllOf(HasSubstr("column=condition"), HasSubstr(path_.string())));
}

TEST_F(OutcomeFile, ContradictionOfSuccessAndOutcomeIsRefused) {
  write_outcomes(path_, std::vector<Outcome>{measured_success()});
  data::Table table = data::read_table(path_);
  table.rows[0][6] = false;
  data::write_table(path_, table);
  EXPECT_THAT(error_of_reading(), AllOf(HasSubstr("disagree"), HasSubstr("row=0")));
}

}  // namespace
}  // namespace frostline::eval
