#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "frostline/core/tensor.h"
#include "frostline/graph/graph.h"

namespace frostline::graph {

/// Shape of an element-wise result by numpy's rule; nothing when the shapes do not fit.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

/// Element strides that read a tensor of shape `from` as if it had shape `to` (0 = repeated).
std::vector<std::int64_t> broadcast_strides(const Shape& from, const Shape& to);

/// Sliding window of a convolution or a pooling, rows first.
struct Window {
  std::array<std::int64_t, 2> kernel{};
  std::array<std::int64_t, 2> stride{1, 1};
  std::array<std::int64_t, 2> pad_before{};
  std::array<std::int64_t, 2> pad_after{};

  /// Number of positions over an input extent; 0 or less when the kernel does not fit.
  std::int64_t extent(std::int64_t input, std::size_t axis) const;
};

/// Reads `strides` and `pads`; nothing when they are malformed or the node is dilated.
std::optional<Window> window_of(const Node& node,
                                std::int64_t kernel_high,
                                std::int64_t kernel_wide);

}  // namespace frostline::graph
