#include "frostline/split/boundary.h"

#include <fmt/format.h>

#include "frostline/core/error.h"

namespace frostline::split {

int parse_boundary(std::string_view text, int num_layers) {
  for (int boundary = 0; boundary <= num_layers; ++boundary) {
    if (text == boundary_name(boundary)) {
      return boundary;
    }
  }
  throw Error(ErrorCode::kUsage,
              "boundary is not known",
              fmt::format("boundary={} ; give one of L0..L{}", text, num_layers));
}

std::string boundary_name(int boundary) {
  return fmt::format("L{}", boundary);
}

std::string boundary_tensor(int index) {
  return fmt::format("x_{}", index);
}

std::vector<std::string> crossing_tensors(int boundary) {
  std::vector<std::string> names;
  for (int i = 0; i <= boundary; ++i) {
    names.push_back(boundary_tensor(i));
  }
  return names;
}

Tail tail_of(int boundary, int num_layers) {
  FROSTLINE_REQUIRE(boundary >= 0 && boundary <= num_layers,
                    ErrorCode::kUsage,
                    "boundary is outside the encoder",
                    fmt::format("boundary={} layers={}", boundary, num_layers));
  Tail tail;
  for (int i = 0; i < num_layers; ++i) {
    (i < boundary ? tail.reconstructed : tail.computed).push_back(i);
  }
  return tail;
}

}  // namespace frostline::split
