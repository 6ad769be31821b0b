#include "frostline/core/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frostline/core/error.h"

namespace frostline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Action>
std::string config_error(Action action) {
  try {
    action();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kConfig) << e.what();
    return e.what();
  }
  return "no error";
}

TEST(Config, ReadsEveryType) {
  const auto table = ConfigTable::parse(
      "steps = 400\nrate = 1\nname = \"a\"\nfast = true\nsizes = [1, 2]\nwords = [\"x\"]\n"
      "[train]\nseed = 7\n[[run]]\nid = 1\n[[run]]\nid = 2\n",
      "run.toml");
  EXPECT_EQ(table.get<std::int64_t>("steps"), 400);
  EXPECT_DOUBLE_EQ(table.get<double>("rate"), 1);
  EXPECT_EQ(table.get<std::string>("name"), "a");
  EXPECT_TRUE(table.get<bool>("fast"));
  EXPECT_THAT(table.get<std::vector<std::int64_t>>("sizes"), ElementsAre(1, 2));
  EXPECT_THAT(table.get<std::vector<std::string>>("words"), ElementsAre("x"));
  EXPECT_EQ(table.find_table("train")->get<std::int64_t>("seed"), 7);
  ASSERT_EQ(table.find_tables("run").size(), 2U);
  EXPECT_EQ(table.find_tables("run")[0].get<std::int64_t>("id"), 1);
  EXPECT_EQ(table.find_tables("run")[1].get<std::int64_t>("id"), 2);
  EXPECT_FALSE(table.find<std::int64_t>("absent"));
  EXPECT_FALSE(table.find_table("none"));
  EXPECT_TRUE(table.find_tables("nothing").empty());
  table.finish();
}

TEST(Config, UnknownKeyNamesTheNearestKnownOne) {
  const auto table = ConfigTable::parse("steps = 1\n[train]\nbacth_size = 8\n", "run.toml");
  table.find<std::int64_t>("steps");
  const auto train = table.find_table("train");
  train->find<std::int64_t>("batch_size");
  train->find<std::int64_t>("seed");
  EXPECT_EQ(config_error([&] { table.finish(); }),
            "unknown key: key=train.bacth_size at run.toml:3 ; did you mean 'batch_size'?");
}

TEST(Config, UnknownKeyThatIsNearNothingListsTheKnownOnes) {
  const auto table = ConfigTable::parse("colour = 1\n", "run.toml");
  table.find<std::int64_t>("seed");
  table.find<std::int64_t>("batch_size");
  EXPECT_EQ(config_error([&] { table.finish(); }),
            "unknown key: key=colour at run.toml:1 ; known keys here: batch_size, seed");
}

TEST(Config, TableNobodyAskedForIsUnknown) {
  const auto table = ConfigTable::parse("[trian]\nseed = 1\n", "run.toml");
  table.find_table("train");
  EXPECT_THAT(config_error([&] { table.finish(); }), HasSubstr("did you mean 'train'?"));
}

TEST(Config, UnknownKeyInARepeatedTableIsFound) {
  const auto table = ConfigTable::parse("[[run]]\nid = 1\n[[run]]\nidd = 2\n", "run.toml");
  for (const auto& run : table.find_tables("run")) {
    run.find<std::int64_t>("id");
  }
  EXPECT_THAT(config_error([&] { table.finish(); }), HasSubstr("run.toml:4"));
}

TEST(Config, MissingKeyNamesItsLikelyMisspelling) {
  const auto table = ConfigTable::parse("a = 1\nstesp = 4\n", "run.toml");
  EXPECT_EQ(config_error([&] { table.get<std::int64_t>("steps"); }),
            "missing key: key=steps at run.toml:2 ; is 'stesp' a misspelling of it?");
  EXPECT_THAT(config_error([&] { table.get<std::int64_t>("learning_rate"); }), HasSubstr("add it"));
}

TEST(Config, WrongTypeSaysWhatToWrite) {
  const auto table = ConfigTable::parse("\nsteps = \"many\"\nrate = 1.5\nlist = [1, \"a\"]\n", "f");
  EXPECT_EQ(config_error([&] { table.get<std::int64_t>("steps"); }),
            "wrong type of value: key=steps is of type string, at f:2 ; write an integer");
  EXPECT_THAT(config_error([&] { table.get<std::int64_t>("rate"); }), HasSubstr("type number"));
  EXPECT_THAT(config_error([&] { table.get<std::vector<std::int64_t>>("list"); }),
              HasSubstr("type string"));
  EXPECT_THAT(config_error([&] { table.find_table("steps"); }),
              HasSubstr("write a table: [steps]"));
  EXPECT_THAT(config_error([&] { table.find_tables("list"); }), HasSubstr("[[list]]"));
}

TEST(Config, MalformedFileGivesThePosition) {
  EXPECT_THAT(config_error([] { ConfigTable::parse("a = 1\nb = = 2\n", "run.toml"); }),
              HasSubstr("malformed TOML: run.toml:2:"));
  EXPECT_THAT(config_error([] { ConfigTable::parse("a = 1\na = 2\n", "run.toml"); }),
              HasSubstr("malformed TOML: run.toml:2:"));
  EXPECT_THAT(config_error([] { ConfigTable::parse("a = 2020-01-01\n", "run.toml"); }),
              HasSubstr("dates and times"));
}

TEST(Config, RefusedValueIsNamed) {
  const auto table = ConfigTable::parse("steps = -1\n", "run.toml");
  EXPECT_EQ(config_error([&] { table.refuse("steps", "must be positive"); }),
            "value not usable: key=steps at run.toml:1 ; must be positive");
}

TEST(EditDistance, CountsInsertionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("bacth", "batch"), 1);
  EXPECT_EQ(edit_distance("same", "same"), 0);
}

TEST(NearestWord, IsEmptyWhenNothingIsNear) {
  EXPECT_EQ(nearest_word("seeed", {"seed", "steps"}), "seed");
  EXPECT_EQ(nearest_word("colour", {"seed", "batch_size"}), "");
}

}  // namespace
}  // namespace frostline
