#include "frostline/data/window.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace frostline::data {
namespace {

using ::testing::ElementsAre;

struct Window {
  Window(FrameRange episode, std::int64_t frame, WindowSpec spec)
      : states(static_cast<std::size_t>(spec.num_states())),
        valid(states.size()),
        actions(static_cast<std::size_t>(spec.chunk) * 2),
        padded(static_cast<std::size_t>(spec.chunk)) {
    const std::vector<float> state{0, 1, 2, 10, 11, 12};
    const std::vector<float> action{0, .5, 1, 1.5, 2, 2.5, 10, 10.5, 11, 11.5, 12, 12.5};
    const HostTensor state_column = HostTensor::from<float>({6, 1}, state);
    const HostTensor action_column = HostTensor::from<float>({6, 2}, action);
    read_window(
        {state_column, action_column}, episode, frame, spec, {states, valid, actions, padded});
  }

  std::vector<float> states;
  std::vector<std::uint8_t> valid;
  std::vector<float> actions;
  std::vector<std::uint8_t> padded;
};

TEST(Window, ClampsToTheEpisodeAtItsBeginning) {
  const Window window({3, 6}, 1, {.history = 3, .chunk = 2});
  EXPECT_THAT(window.states, ElementsAre(10, 10, 10, 11, 12));
  EXPECT_THAT(window.valid, ElementsAre(0, 0, 1, 1, 1));
  EXPECT_THAT(window.actions, ElementsAre(11, 11.5, 12, 12.5));
  EXPECT_THAT(window.padded, ElementsAre(0, 0));
}

TEST(Window, ClampsToTheEpisodeAtItsEnd) {
  const Window window({0, 3}, 2, {.history = 1, .chunk = 3});
  EXPECT_THAT(window.states, ElementsAre(1, 2, 2, 2));
  EXPECT_THAT(window.valid, ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(window.actions, ElementsAre(2, 2.5, 2, 2.5, 2, 2.5));
  EXPECT_THAT(window.padded, ElementsAre(0, 1, 1));
}

TEST(Window, HasNoPaddingAtOffsetZeroOfALaterEpisode) {
  for (std::int64_t frame = 0; frame < 3; ++frame) {
    const Window window({3, 6}, frame, {.history = 0, .chunk = 1});
    EXPECT_THAT(window.padded, ElementsAre(0));
    EXPECT_THAT(window.valid, ElementsAre(1));
    EXPECT_THAT(window.states, ElementsAre(10 + static_cast<float>(frame)));
  }
}

TEST(Window, RefusesAnAnchorOutsideTheEpisode) {
  EXPECT_THROW(Window({3, 6}, 3, {.history = 0, .chunk = 1}), Error);
  EXPECT_THROW(Window({3, 6}, -1, {.history = 0, .chunk = 1}), Error);
}

}  // namespace
}  // namespace frostline::data
