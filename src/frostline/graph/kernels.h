#pragma once

#include "frostline/core/tensor.h"
#include "frostline/graph/graph.h"

namespace frostline::graph {

/// Computes one node whose types were checked; `inputs` in the node's order, `output` zero-filled
/// and of the inferred type.
void run_node(const Node& node, const std::vector<const HostTensor*>& inputs, HostTensor& output);

}  // namespace frostline::graph
