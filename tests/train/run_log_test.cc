#include "frostline/train/run_log.h"

#include <gtest/gtest.h>

#include "frostline/core/file.h"
#include "tests/support/temp_folder.h"

namespace frostline::train {
namespace {

TEST(RunLog, ResumeDropsWhatIsWrittenAgainAndHalfALine) {
  const test::TempFolder folder;
  {
    RunLog log(folder.path(), 0);
    log.add({{"step", 10}, {"loss", 1.0}});
    log.add({{"step", 20}, {"loss", 0.5}});
    log.add({{"step", 30}, {"loss", 0.4}});
  }
  const auto path = folder.path() / "metrics.jsonl";
  write_file_atomic(path, read_file(path) + "{\"step\": 40, \"lo");
  RunLog log(folder.path(), 20);
  ASSERT_EQ(log.curve().size(), 2U);
  EXPECT_EQ(log.curve()[1].step, 20);
  log.add({{"step", 30}, {"loss", 0.41}});
  EXPECT_EQ(
      read_file(path),
      "{\"step\":10,\"loss\":1.0}\n{\"step\":20,\"loss\":0.5}\n{\"step\":30,\"loss\":0.41}\n");
}

}  // namespace
}  // namespace frostline::train
