#pragma once

#include <cstdint>
#include <span>

#include "frostline/core/tensor.h"
#include "frostline/data/dataset.h"

namespace frostline::data {

/// Extent of a training window around an anchor frame.
struct WindowSpec {
  std::int64_t history = 0;  ///< H: states before the anchor.
  std::int64_t chunk = 1;    ///< C: states and actions from the anchor on.

  std::int64_t num_states() const { return history + chunk; }
};

/// Caller's buffers for one window.
struct WindowView {
  std::span<float> states;                   ///< Shape: [H + C, state_dim], offsets -H..C-1.
  std::span<std::uint8_t> state_is_valid;    ///< Shape: [H + C]; 1 inside the episode.
  std::span<float> actions;                  ///< Shape: [C, action_dim], offsets 0..C-1.
  std::span<std::uint8_t> action_is_padded;  ///< Shape: [C]; 1 outside the episode.
};

/// The columns a window is cut from. Borrowed. Shape: [num_frames, dim] fp32.
struct WindowColumns {
  const HostTensor& states;
  const HostTensor& actions;
};

/// Copies the window around frame `frame_index` of the episode that covers `episode`; offsets
/// outside it repeat its first or last frame.
/// Errors: `kInternal` when a buffer's size disagrees or the anchor lies outside the episode.
/// Source: LeRobot, `LeRobotDataset._get_query_indices` (clamping, `<key>_is_pad`).
void read_window(const WindowColumns& columns,
                 FrameRange episode,
                 std::int64_t frame_index,
                 const WindowSpec& spec,
                 const WindowView& out);

}  // namespace frostline::data
