#include "frostline/data/lerobot/statistics.h"

#include <cmath>

#include <gtest/gtest.h>

#include "frostline/data/dataset.h"
#include "tests/data/recording.h"
#include "tests/support/temp_folder.h"

namespace frostline::data {
namespace {

using test::TempFolder;

TEST(Statistics, SummariseMatchesNumpy) {
  const std::vector<double> values{1, -10, 2, 20, 3, 0, 4, 5, 10, 5};  // Two dimensions.
  const FeatureStatistics statistics = summarise(values, 2);
  EXPECT_EQ(statistics.count, 5);
  EXPECT_DOUBLE_EQ(statistics.min[1], -10);
  EXPECT_DOUBLE_EQ(statistics.max[0], 10);
  EXPECT_DOUBLE_EQ(statistics.mean[0], 4);
  EXPECT_DOUBLE_EQ(statistics.std[0], std::sqrt(10.0));
  EXPECT_DOUBLE_EQ(statistics.q01[0], 1.04);
  EXPECT_DOUBLE_EQ(statistics.q10[0], 1.4);
  EXPECT_DOUBLE_EQ(statistics.q50[0], 3);
  EXPECT_DOUBLE_EQ(statistics.q90[0], 7.6);
  EXPECT_NEAR(statistics.q99[1], 19.4, 1e-12);
}

TEST(Statistics, AggregateEqualsTheWhole) {
  std::vector<double> all;
  std::vector<FeatureStatistics> parts;
  for (int part = 0; part < 3; ++part) {
    std::vector<double> values;
    for (int i = 0; i < 5 + part * 7; ++i) {
      values.push_back(std::sin(i * 1.7 + part) * (part + 1) + part);
    }
    parts.push_back(summarise(values, 1));
    all.insert(all.end(), values.begin(), values.end());
  }
  const FeatureStatistics* const pointers[] = {&parts[0], &parts[1], &parts[2]};
  const FeatureStatistics whole = summarise(all, 1);
  const FeatureStatistics aggregated = aggregate(pointers);
  EXPECT_EQ(aggregated.count, whole.count);
  EXPECT_DOUBLE_EQ(aggregated.min[0], whole.min[0]);
  EXPECT_DOUBLE_EQ(aggregated.max[0], whole.max[0]);
  EXPECT_NEAR(aggregated.mean[0], whole.mean[0], 1e-12);
  EXPECT_NEAR(aggregated.std[0], whole.std[0], 1e-12);
}

TEST(Statistics, ImageHistogramIsExact) {
  const Camera camera{"c", 8, 20, "raw"};
  const auto rgb = picture(camera, 0, 0);
  std::vector<double> values;
  for (const std::uint8_t byte : rgb) {
    values.push_back(byte / 255.0);
  }
  ImageHistogram histogram;
  histogram.add(rgb, 8, 20);
  const FeatureStatistics expected = summarise(values, 3);
  const FeatureStatistics found = histogram.summary();
  EXPECT_EQ(found.count, 1);
  for (std::size_t channel = 0; channel < 3; ++channel) {
    EXPECT_NEAR(found.mean[channel], expected.mean[channel], 1e-12);
    EXPECT_NEAR(found.std[channel], expected.std[channel], 1e-12);
    EXPECT_DOUBLE_EQ(found.min[channel], expected.min[channel]);
    EXPECT_DOUBLE_EQ(found.max[channel], expected.max[channel]);
    EXPECT_NEAR(found.q50[channel], expected.q50[channel], 1.0 / 255.0);
  }
}

TEST(Statistics, OfADataSetAreThoseOfItsColumns) {
  const TempFolder folder;
  record(folder.path() / "set", small_options("raw"), {6, 11});
  const auto dataset = open_dataset(folder.path() / "set");
  const auto column = dataset->column("observation.state").data<float>();
  const FeatureStatistics expected =
      summarise(std::vector<double>(column.begin(), column.end()), 3);
  const FeatureStatistics& found = dataset->statistics("observation.state");
  EXPECT_EQ(found.count, 17);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(found.mean[i], expected.mean[i], 1e-9);
    EXPECT_NEAR(found.std[i], expected.std[i], 1e-9);
    EXPECT_EQ(found.max[i], expected.max[i]);
  }
  EXPECT_EQ(dataset->statistics("observation.images.top").mean.size(), 3U);
  EXPECT_THROW(dataset->statistics("nothing"), Error);
}

}  // namespace
}  // namespace frostline::data
