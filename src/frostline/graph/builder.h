#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frostline/graph/graph.h"

namespace frostline::graph {

/// Appends nodes to a graph one after another; every call returns the name of what it made. One
/// thread.
class Builder {
 public:
  explicit Builder(std::string name) { graph_.name = std::move(name); }

  std::string input(TensorSpec spec);
  /// Adds a constant unless one of that name is there.
  std::string constant(const std::string& name, HostTensor value);
  std::string constant(const std::string& name, const Shape& shape, std::span<const float> values);
  std::string node(Op op,
                   const std::string& output,
                   std::vector<std::string> inputs,
                   std::map<std::string, Attribute, std::less<>> attributes = {});

  std::string conv(const std::string& output,
                   const std::string& x,
                   const std::string& weight,
                   const std::string& bias,
                   std::int64_t stride,
                   std::int64_t pad);
  std::string reshape(const std::string& output,
                      const std::string& x,
                      const std::vector<std::int64_t>& shape);
  std::string transpose(const std::string& output,
                        const std::string& x,
                        std::vector<std::int64_t> order);
  /// Over the last axis.
  std::string layer_norm(const std::string& output,
                         const std::string& x,
                         const std::string& scale,
                         const std::string& bias,
                         float epsilon);

  /// Declares outputs, checks the graph and hands it over. Errors: as `infer_types`.
  Graph finish(const std::vector<std::string>& outputs) &&;

 private:
  Graph graph_;
};

}  // namespace frostline::graph
