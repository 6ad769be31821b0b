#pragma once

#include <compare>
#include <cstdint>

namespace frostline {

/// A quantity that only mixes with its own kind; `Tag` names the unit.
template <class Tag, class Rep = double>
struct Quantity {
  Rep value{};

  constexpr Quantity() = default;

  constexpr explicit Quantity(Rep v) : value(v) {}

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value + b.value);
  }

  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value - b.value);
  }

  friend constexpr auto operator<=>(Quantity a, Quantity b) = default;
};

using Joules = Quantity<struct JoulesTag>;
using Watts = Quantity<struct WattsTag>;
using Hertz = Quantity<struct HertzTag>;
using Bytes = Quantity<struct BytesTag, std::int64_t>;

}  // namespace frostline
