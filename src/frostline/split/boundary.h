#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace frostline::split {

/// Number of encoder layers that leave the trainer's device, from `L0`..`L4`.
/// Errors: `kUsage` naming the text and the known boundaries when it is none of
/// `L0`..`L<num_layers>`.
int parse_boundary(std::string_view text, int num_layers);

/// `L<boundary>`.
std::string boundary_name(int boundary);

/// Name of the i-th boundary tensor, `x_<i>`: the input of encoder layer i, and the encoder's
/// output when i is the number of layers.
std::string boundary_tensor(int index);

/// Boundary tensors that cross at `boundary`: x_0..x_k. One artefact with all of them serves every
/// boundary, for Lk reads the prefix.
std::vector<std::string> crossing_tensors(int boundary);

/// Frozen work that stays with the trainer.
/// Source: the tail needs K and V of an offloaded layer i from x_i, and x_k to go on.
struct Tail {
  std::vector<int> reconstructed;  ///< Layers whose K and V are recomputed from x_i: 0..k-1.
  std::vector<int> computed;       ///< Layers run in full: k..num_layers-1.
};

/// Errors: `kUsage` when `boundary` is not in 0..num_layers.
Tail tail_of(int boundary, int num_layers);

}  // namespace frostline::split
