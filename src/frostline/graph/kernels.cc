#include "frostline/graph/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "frostline/graph/broadcast.h"

namespace frostline::graph {

namespace {

using Operands = std::vector<const HostTensor*>;

std::vector<std::int64_t> dense_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * shape[i];
  }
  return strides;
}

/// Calls `visit(i, offset)` for the i-th element in row-major order of `shape` with the offset that
/// `strides` gives it.
template <class Visit>
void for_each_offset(const Shape& shape, const std::vector<std::int64_t>& strides, Visit visit) {
  std::vector<std::int64_t> index(shape.size(), 0);
  std::int64_t offset = 0;
  const std::int64_t total = num_elements(shape);
  for (std::int64_t i = 0; i < total; ++i) {
    visit(static_cast<std::size_t>(i), static_cast<std::size_t>(offset));
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < shape[axis]) {
        break;
      }
      offset -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

template <class Combine>
void elementwise(const Operands& inputs, HostTensor& output, Combine combine) {
  const auto a = inputs[0]->data<float>();
  const auto b = inputs[1]->data<float>();
  const auto out = output.data<float>();
  const Shape& shape = output.shape();
  for_each_offset(shape,
                  broadcast_strides(inputs[0]->shape(), shape),
                  [&](std::size_t i, std::size_t offset) { out[i] = a[offset]; });
  for_each_offset(shape,
                  broadcast_strides(inputs[1]->shape(), shape),
                  [&](std::size_t i, std::size_t offset) { out[i] = combine(out[i], b[offset]); });
}

/// Adds one kernel tap of one channel pair to a plane of the output.
void add_tap(const float* in,
             float weight,
             const Window& window,
             const Shape& x,
             const Shape& y,
             std::int64_t row,
             std::int64_t column,
             float* out) {
  for (std::int64_t i = 0; i < y[2]; ++i) {
    const std::int64_t r = i * window.stride[0] + row - window.pad_before[0];
    if (r < 0 || r >= x[2]) {
      continue;
    }
    for (std::int64_t j = 0; j < y[3]; ++j) {
      const std::int64_t c = j * window.stride[1] + column - window.pad_before[1];
      if (c >= 0 && c < x[3]) {
        out[i * y[3] + j] += weight * in[r * x[3] + c];
      }
    }
  }
}

void convolution(const Node& node, const Operands& inputs, HostTensor& output) {
  const Shape& x = inputs[0]->shape();
  const Shape& w = inputs[1]->shape();
  const Shape& y = output.shape();
  const Window window = window_of(node, w[2], w[3]).value();
  const float* weight = inputs[1]->data<float>().data();
  for (std::int64_t n = 0; n < y[0]; ++n) {
    for (std::int64_t o = 0; o < y[1]; ++o) {
      float* out = output.data<float>().data() + (n * y[1] + o) * y[2] * y[3];
      if (inputs.size() == 3) {
        std::fill_n(out, y[2] * y[3], inputs[2]->data<float>()[static_cast<std::size_t>(o)]);
      }
      for (std::int64_t c = 0; c < x[1]; ++c) {
        const float* in = inputs[0]->data<float>().data() + (n * x[1] + c) * x[2] * x[3];
        for (std::int64_t tap = 0; tap < w[2] * w[3]; ++tap) {
          add_tap(in,
                  weight[(o * w[1] + c) * w[2] * w[3] + tap],
                  window,
                  x,
                  y,
                  tap / w[3],
                  tap % w[3],
                  out);
        }
      }
    }
  }
}

void max_pool(const Node& node, const Operands& inputs, HostTensor& output) {
  const Shape& x = inputs[0]->shape();
  const Shape& y = output.shape();
  const auto kernel = node.ints_or("kernel_shape", {});
  const Window window = window_of(node, kernel[0], kernel[1]).value();
  const auto in = inputs[0]->data<float>();
  const auto out = output.data<float>();
  for (std::int64_t plane = 0; plane < y[0] * y[1]; ++plane) {
    for (std::int64_t i = 0; i < y[2] * y[3]; ++i) {
      float best = -std::numeric_limits<float>::infinity();
      for (std::int64_t tap = 0; tap < kernel[0] * kernel[1]; ++tap) {
        const std::int64_t r = i / y[3] * window.stride[0] + tap / kernel[1] - window.pad_before[0];
        const std::int64_t c = i % y[3] * window.stride[1] + tap % kernel[1] - window.pad_before[1];
        if (r >= 0 && r < x[2] && c >= 0 && c < x[3]) {
          best = std::max(best, in[static_cast<std::size_t>((plane * x[2] + r) * x[3] + c)]);
        }
      }
      out[static_cast<std::size_t>(plane * y[2] * y[3] + i)] = best;
    }
  }
}

void matrix_product(const Operands& inputs, HostTensor& output) {
  const Shape& y = output.shape();
  const std::int64_t rows = y[y.size() - 2];
  const std::int64_t columns = y.back();
  const std::int64_t inner = inputs[0]->shape().back();
  const Shape outer(y.begin(), y.end() - 2);
  const auto matrices_of = [&](const HostTensor& tensor) {
    Shape matrices(tensor.shape().begin(), tensor.shape().end() - 2);
    std::vector<std::int64_t> offsets;
    for_each_offset(
        outer, broadcast_strides(matrices, outer), [&](std::size_t, std::size_t offset) {
          offsets.push_back(static_cast<std::int64_t>(offset));
        });
    return offsets;
  };
  const auto left = matrices_of(*inputs[0]);
  const auto right = matrices_of(*inputs[1]);
  for (std::size_t m = 0; m < left.size(); ++m) {
    const float* a = inputs[0]->data<float>().data() + left[m] * rows * inner;
    const float* b = inputs[1]->data<float>().data() + right[m] * inner * columns;
    float* out = output.data<float>().data() + static_cast<std::int64_t>(m) * rows * columns;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t k = 0; k < inner; ++k) {
        const float value = a[i * inner + k];
        for (std::int64_t j = 0; j < columns; ++j) {
          out[i * columns + j] += value * b[k * columns + j];
        }
      }
    }
  }
}

void transpose(const Node& node, const Operands& inputs, HostTensor& output) {
  const auto dense = dense_strides(inputs[0]->shape());
  std::vector<std::int64_t> strides;
  for (const std::int64_t axis : node.ints_or("perm", {})) {
    strides.push_back(dense[static_cast<std::size_t>(axis)]);
  }
  const std::size_t size = size_of(output.dtype());
  const std::byte* in = inputs[0]->bytes().data();
  std::byte* out = output.bytes().data();
  for_each_offset(output.shape(), strides, [&](std::size_t i, std::size_t offset) {
    std::memcpy(out + i * size, in + offset * size, size);
  });
}

void layer_normalization(const Node& node, const Operands& inputs, HostTensor& output) {
  const auto in = inputs[0]->data<float>();
  const auto scale = inputs[1]->data<float>();
  const auto out = output.data<float>();
  const float epsilon = node.float_or("epsilon", 1e-5F);
  const std::size_t width = scale.size();
  for (std::size_t start = 0; start < in.size(); start += width) {
    double mean = 0.0;
    double variance = 0.0;
    for (std::size_t j = 0; j < width; ++j) {
      mean += in[start + j];
    }
    mean /= static_cast<double>(width);
    for (std::size_t j = 0; j < width; ++j) {
      variance += (in[start + j] - mean) * (in[start + j] - mean);
    }
    const double factor = 1.0 / std::sqrt(variance / static_cast<double>(width) + epsilon);
    for (std::size_t j = 0; j < width; ++j) {
      const float bias = inputs.size() == 3 ? inputs[2]->data<float>()[j] : 0.0F;
      out[start + j] = static_cast<float>((in[start + j] - mean) * factor) * scale[j] + bias;
    }
  }
}

void softmax(const Operands& inputs, HostTensor& output) {
  const auto in = inputs[0]->data<float>();
  const auto out = output.data<float>();
  const auto width = static_cast<std::size_t>(output.shape().back());
  for (std::size_t start = 0; start < in.size(); start += width) {
    const float top = *std::max_element(in.begin() + static_cast<std::ptrdiff_t>(start),
                                        in.begin() + static_cast<std::ptrdiff_t>(start + width));
    double sum = 0.0;
    for (std::size_t j = 0; j < width; ++j) {
      out[start + j] = std::exp(in[start + j] - top);
      sum += out[start + j];
    }
    for (std::size_t j = 0; j < width; ++j) {
      out[start + j] = static_cast<float>(out[start + j] / sum);
    }
  }
}

/// Strides that give every element of `shape` its scale along the node's axis.
std::vector<std::int64_t> scale_strides(const Node& node,
                                        const HostTensor& scale,
                                        const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 0);
  if (scale.shape().size() == 1) {
    const std::int64_t axis = node.int_or("axis", 1);
    strides[static_cast<std::size_t>(axis < 0 ? axis + std::ssize(shape) : axis)] = 1;
  }
  return strides;
}

template <class Code>
void quantise(const Node& node, const Operands& inputs, HostTensor& output) {
  const auto in = inputs[0]->data<float>();
  const auto scale = inputs[1]->data<float>();
  const auto zero = inputs[2]->data<Code>();
  const auto out = output.data<Code>();
  using Limits = std::numeric_limits<Code>;
  for_each_offset(
      output.shape(),
      scale_strides(node, *inputs[1], output.shape()),
      [&](std::size_t i, std::size_t s) {
        const float code = std::nearbyint(in[i] / scale[s]) + static_cast<float>(zero[s]);
        out[i] = static_cast<Code>(
            std::clamp(code, static_cast<float>(Limits::min()), static_cast<float>(Limits::max())));
      });
}

template <class Code>
void dequantise(const Node& node, const Operands& inputs, HostTensor& output) {
  const auto in = inputs[0]->data<Code>();
  const auto scale = inputs[1]->data<float>();
  const auto zero = inputs[2]->data<Code>();
  const auto out = output.data<float>();
  for_each_offset(
      output.shape(),
      scale_strides(node, *inputs[1], output.shape()),
      [&](std::size_t i, std::size_t s) {
        out[i] = static_cast<float>(static_cast<int>(in[i]) - static_cast<int>(zero[s])) * scale[s];
      });
}

template <class Code>
void cast(const Operands& inputs, HostTensor& output) {
  std::ranges::transform(inputs[0]->data<Code>(), output.data<float>().begin(), [](Code value) {
    return static_cast<float>(value);
  });
}

}  // namespace

void run_node(const Node& node, const Operands& inputs, HostTensor& output) {
  switch (node.op) {
    case Op::kAdd:
      return elementwise(inputs, output, [](float a, float b) { return a + b; });
    case Op::kSub:
      return elementwise(inputs, output, [](float a, float b) { return a - b; });
    case Op::kMul:
      return elementwise(inputs, output, [](float a, float b) { return a * b; });
    case Op::kDiv:
      return elementwise(inputs, output, [](float a, float b) { return a / b; });
    case Op::kConv:
      return convolution(node, inputs, output);
    case Op::kMaxPool:
      return max_pool(node, inputs, output);
    case Op::kMatMul:
      return matrix_product(inputs, output);
    case Op::kTranspose:
      return transpose(node, inputs, output);
    case Op::kLayerNormalization:
      return layer_normalization(node, inputs, output);
    case Op::kSoftmax:
      return softmax(inputs, output);
    case Op::kReshape:
      std::ranges::copy(inputs[0]->bytes(), output.bytes().begin());
      return;
    case Op::kRelu:
      std::ranges::transform(inputs[0]->data<float>(),
                             output.data<float>().begin(),
                             [](float value) { return std::max(value, 0.0F); });
      return;
    case Op::kCast:
      return inputs[0]->dtype() == DType::kU8 ? cast<std::uint8_t>(inputs, output)
                                              : cast<std::int8_t>(inputs, output);
    case Op::kQuantizeLinear:
      return output.dtype() == DType::kU8 ? quantise<std::uint8_t>(node, inputs, output)
                                          : quantise<std::int8_t>(node, inputs, output);
    case Op::kDequantizeLinear:
      return inputs[0]->dtype() == DType::kU8 ? dequantise<std::uint8_t>(node, inputs, output)
                                              : dequantise<std::int8_t>(node, inputs, output);
  }
}

}  // namespace frostline::graph
