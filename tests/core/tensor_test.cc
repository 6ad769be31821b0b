#include "frostline/core/tensor.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace frostline {
namespace {

float through(float value, DType dtype) {
  const std::vector<float> values = {value};
  return to_f32(from_f32(HostTensor::from<float>({1}, values), dtype)).data<float>()[0];
}

TEST(HostTensor, CopyIsDeep) {
  HostTensor a(DType::kF32, {2, 2});
  HostTensor b = a;
  b.data<float>()[0] = 7;
  EXPECT_EQ(a.data<float>()[0], 0);
  a = b;
  EXPECT_EQ(a.data<float>()[0], 7);
}

TEST(HostTensor, WrongElementTypeIsABug) {
  HostTensor a(DType::kF32, {2});
  EXPECT_THROW(a.data<std::int8_t>(), Error);
}

TEST(HostTensor, HalfRoundsToNearestEven) {
  EXPECT_EQ(through(1.0F, DType::kF16), 1.0F);
  EXPECT_EQ(through(65504.0F, DType::kF16), 65504.0F);
  EXPECT_EQ(through(2049.0F, DType::kF16), 2048.0F);
  EXPECT_EQ(through(2051.0F, DType::kF16), 2052.0F);
  EXPECT_EQ(through(-0x1p-24F, DType::kF16), -0x1p-24F);
  EXPECT_EQ(through(0x1p-26F, DType::kF16), 0.0F);
  EXPECT_TRUE(std::isinf(through(70000.0F, DType::kF16)));
  EXPECT_TRUE(std::isnan(through(std::numeric_limits<float>::quiet_NaN(), DType::kF16)));
}

TEST(HostTensor, BfloatRoundsToNearestEven) {
  EXPECT_EQ(through(1.0F + 0x1p-8F, DType::kBF16), 1.0F);
  EXPECT_EQ(through(1.0F + 0x1.8p-7F, DType::kBF16), 1.0F + 0x1p-6F);
  EXPECT_TRUE(std::isnan(through(std::numeric_limits<float>::quiet_NaN(), DType::kBF16)));
}

}  // namespace
}  // namespace frostline
