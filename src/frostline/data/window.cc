#include "frostline/data/window.h"

#include <algorithm>

#include "frostline/core/error.h"

namespace frostline::data {

namespace {

/// Copies rows `anchor + first_offset ..` of `column`, clamped to `episode`.
void copy_rows(const HostTensor& column,
               FrameRange episode,
               std::int64_t begin,
               std::span<float> out,
               std::span<std::uint8_t> is_inside) {
  FROSTLINE_CHECK(column.shape().size() == 2);
  const auto dim = static_cast<std::size_t>(column.shape()[1]);
  FROSTLINE_CHECK(out.size() == is_inside.size() * dim);
  FROSTLINE_CHECK(episode.begin >= 0 && episode.end <= column.shape()[0]);
  const std::span<const float> values = column.data<float>();
  for (std::size_t row = 0; row < is_inside.size(); ++row) {
    const std::int64_t wanted = begin + static_cast<std::int64_t>(row);
    const std::int64_t frame = std::clamp(wanted, episode.begin, episode.end - 1);
    is_inside[row] = wanted == frame ? 1 : 0;
    const auto source = values.subspan(static_cast<std::size_t>(frame) * dim, dim);
    std::ranges::copy(source, out.begin() + static_cast<std::ptrdiff_t>(row * dim));
  }
}

}  // namespace

void read_window(const WindowColumns& columns,
                 FrameRange episode,
                 std::int64_t frame_index,
                 const WindowSpec& spec,
                 const WindowView& out) {
  FROSTLINE_CHECK(spec.history >= 0 && spec.chunk > 0);
  FROSTLINE_CHECK(frame_index >= 0 && frame_index < episode.length());
  FROSTLINE_CHECK(std::ssize(out.state_is_valid) == spec.num_states());
  FROSTLINE_CHECK(std::ssize(out.action_is_padded) == spec.chunk);
  const std::int64_t anchor = episode.begin + frame_index;
  copy_rows(columns.states, episode, anchor - spec.history, out.states, out.state_is_valid);
  copy_rows(columns.actions, episode, anchor, out.actions, out.action_is_padded);
  for (std::uint8_t& flag : out.action_is_padded) {
    flag = flag == 0 ? 1 : 0;
  }
}

}  // namespace frostline::data
