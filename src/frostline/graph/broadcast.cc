#include "frostline/graph/broadcast.h"

#include <algorithm>

namespace frostline::graph {

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (left != right && left != 1 && right != 1) {
      return std::nullopt;
    }
    result[result.size() - 1 - i] = left == 1 ? right : left;
  }
  return result;
}

std::vector<std::int64_t> broadcast_strides(const Shape& from, const Shape& to) {
  std::vector<std::int64_t> strides(to.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::int64_t extent = from[from.size() - 1 - i];
    strides[to.size() - 1 - i] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
  return strides;
}

std::int64_t Window::extent(std::int64_t input, std::size_t axis) const {
  const std::int64_t room = input + pad_before[axis] + pad_after[axis] - kernel[axis];
  return room < 0 ? 0 : room / stride[axis] + 1;
}

std::optional<Window> window_of(const Node& node,
                                std::int64_t kernel_high,
                                std::int64_t kernel_wide) {
  const auto strides = node.ints_or("strides", {1, 1});
  const auto pads = node.ints_or("pads", {0, 0, 0, 0});
  const auto dilations = node.ints_or("dilations", {1, 1});
  const auto is_positive = [](std::int64_t value) { return value > 0; };
  const auto is_natural = [](std::int64_t value) { return value >= 0; };
  if (strides.size() != 2 || pads.size() != 4 || dilations != std::vector<std::int64_t>{1, 1} ||
      !std::ranges::all_of(strides, is_positive) || !std::ranges::all_of(pads, is_natural) ||
      kernel_high < 1 || kernel_wide < 1) {
    return std::nullopt;
  }
  return Window{
      {kernel_high, kernel_wide}, {strides[0], strides[1]}, {pads[0], pads[1]}, {pads[2], pads[3]}};
}

}  // namespace frostline::graph
