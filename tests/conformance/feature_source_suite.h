#pragma once

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "frostline/pipeline/feature_source.h"
#include "tests/support/small_plan.h"

namespace frostline::test {

/// How a source under test is made.
struct SourceRequest {
  pipeline::BatchPlan plan;
  int num_workers = 1;
  int depth = 2;  ///< Batches ahead; slots of the device for a live source.
};

/// A source and what it borrows.
struct MadeSource {
  std::shared_ptr<void> owned;
  std::unique_ptr<pipeline::FeatureSource> source;  // Last: destroyed before what it borrows.
};

/// One implementation of `pipeline::FeatureSource`.
struct FeatureSourceCase {
  std::string name;
  bool reads_images = true;  ///< Reads while it runs, not when it is made.
  std::function<MadeSource(const SourceRequest&)> make;
};

inline std::string source_case_name(const ::testing::TestParamInfo<FeatureSourceCase>& info) {
  return info.param.name;
}

/// What every feature source must do; implementations register in `feature_source_test.cc`.
class FeatureSourceSuite : public ::testing::TestWithParam<FeatureSourceCase> {
 protected:
  static constexpr std::int64_t kSteps = 12;  // Over three epochs of 3.5 batches.

  MadeSource make(int num_workers = 1, int depth = 2) {
    return GetParam().make({plan_.plan(), num_workers, depth});
  }

  SmallPlan plan_;
};

}  // namespace frostline::test
