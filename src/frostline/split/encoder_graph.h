#pragma once

#include <cstdint>

#include "frostline/core/tensor.h"
#include "frostline/graph/graph.h"
#include "frostline/policy/ar_actor_spec.h"

namespace frostline::split {

/// The frozen stages of an AR-Actor that leave the trainer's device, as data.
///
/// Input `image` u8 [batch, height, width, 3], HWC RGB; normalised inside by ImageNet's mean and
/// standard deviation and turned to NCHW there. Batch norm is folded into the convolutions. Outputs
/// x_0..x_boundary f32 [batch, tokens, dim], tokens row by row. `weights` carry a checkpoint's
/// names with the prefix `model.`. Errors: `kUsage` when `boundary` or `batch` is out of range;
/// `kData` naming a weight that is missing or of another shape. Source: arXiv 2603.10126 (AR-VLA),
/// ACT's 2D sine, ResNet18 with frozen batch norm.
graph::Graph encoder_graph(const policy::ArActorSpec& spec,
                           const NamedTensors& weights,
                           int boundary,
                           std::int64_t batch);

/// Fixed 2D sine position code, f32 [high * wide, dim], rows first; the first half of the channels
/// codes the row. `dim` must be a multiple of 4.
HostTensor sine_position(std::int64_t high, std::int64_t wide, std::int64_t dim);

}  // namespace frostline::split
