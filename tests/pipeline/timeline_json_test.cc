#include "frostline/pipeline/timeline_json.h"

#include <gtest/gtest.h>

#include "frostline/core/json.h"
#include "tests/support/temp_folder.h"

namespace frostline::pipeline {
namespace {

TEST(TimelineJson, OpensInPerfetto) {
  const test::TempFolder folder;
  write_timeline_json(folder.path() / "timeline.json",
                      {{"trainer", "forward", 3, 5'000'000, 5'250'000},
                       {"encoder", "encode", 4, 5'100'000, 5'150'000}});
  const Json events = read_json(folder.path() / "timeline.json")["traceEvents"];
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0]["args"]["name"], "encoder");
  EXPECT_EQ(events[2]["ph"], "X");
  EXPECT_EQ(events[2]["name"], "forward");
  EXPECT_EQ(events[2]["ts"], 0.0);
  EXPECT_EQ(events[2]["dur"], 250.0);
  EXPECT_EQ(events[2]["args"]["step"], 3);
  EXPECT_EQ(events[3]["ts"], 100.0);
  EXPECT_NE(events[3]["tid"], events[2]["tid"]);
}

}  // namespace
}  // namespace frostline::pipeline
