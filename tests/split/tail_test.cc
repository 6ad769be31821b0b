#include "frostline/split/torch/tail.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "frostline/policy/ar_actor_expert.h"
#include "tests/policy/tiny_policy.h"

namespace frostline::split {
namespace {

using test::TinyPolicy;

bool are_equal(const policy::Prefix& a, const policy::Prefix& b) {
  bool equal = a.memory.equal(b.memory) && a.position.equal(b.position) &&
               a.keys.size() == b.keys.size() && a.values.size() == b.values.size();
  for (std::size_t i = 0; equal && i < a.keys.size(); ++i) {
    equal = a.keys[i].equal(b.keys[i]) && a.values[i].equal(b.values[i]);
  }
  return equal;
}

class Split : public ::testing::TestWithParam<int> {};

/// Invariant 2: boundary tensors by the policy's encoder and the tail give the unsplit forward
/// pass, and with it the loss, bit for bit.
TEST_P(Split, ChangesNoBit) {
  at::set_num_threads(1);
  const TinyPolicy policy;
  const policy::ArActorEncoder encoder(policy.spec, policy.encoder);
  const FrozenTail tail(encoder, {});
  const at::Tensor image = test::test_image(policy.spec, 2);
  const std::vector<at::Tensor> whole = {image};
  const policy::Prefix unsplit = tail(whole);
  const auto crossing = encoder.encode(image, GetParam());
  ASSERT_EQ(crossing.size(), static_cast<std::size_t>(GetParam()) + 1);
  const policy::Prefix split = tail(crossing);
  ASSERT_EQ(split.keys.size(), 4U);
  EXPECT_TRUE(are_equal(split, unsplit));

  const policy::ArActorExpert expert(policy.spec, policy.expert);
  const auto batch = test::full_batch(policy.spec, 2);
  const auto loss_of = [&](const policy::Prefix& prefix) {
    policy::Dropout dropout(0.1, 3, 4);
    return expert.loss(prefix, batch, policy::LossReduction::kValid, dropout).total;
  };
  EXPECT_TRUE(loss_of(split).equal(loss_of(unsplit)));

  auto changed = crossing;
  changed.back() = changed.back().add(0.01);
  EXPECT_FALSE(are_equal(tail(changed), unsplit));
}

INSTANTIATE_TEST_SUITE_P(L, Split, ::testing::Range(0, 5), ::testing::PrintToStringParamName());

TEST(FrozenTail, DecodesCodesByScaleAndZeroPoint) {
  at::set_num_threads(1);
  const TinyPolicy policy;
  const policy::ArActorEncoder encoder(policy.spec, policy.encoder);
  Coding coding;
  std::vector<at::Tensor> codes;
  std::vector<at::Tensor> values;
  for (int i = 0; i < 5; ++i) {
    coding.scales.push_back(0.02F * static_cast<float>(i + 1));
    coding.zero_points.push_back(i - 2);
    codes.push_back(
        test::wave({2, policy.spec.num_tokens(), policy.spec.dim}, 0.3 + i).mul(100).to(at::kChar));
    values.push_back(
        codes.back().to(at::kFloat).sub(coding.zero_points.back()).mul(coding.scales.back()));
  }
  EXPECT_TRUE(are_equal(FrozenTail(encoder, coding)(codes), FrozenTail(encoder, {})(values)));
}

}  // namespace
}  // namespace frostline::split
