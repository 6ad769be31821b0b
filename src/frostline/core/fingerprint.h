#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace frostline {

/// Identity of a piece of content: 64 lower-case hex digits of a SHA-256.
struct Fingerprint {
  std::string hex;

  /// First 12 digits, for display.
  std::string short_hex() const { return hex.substr(0, 12); }

  friend auto operator<=>(const Fingerprint&, const Fingerprint&) = default;
};

/// Accumulates named content into a `Fingerprint`. One thread.
/// Source: FIPS 180-4.
class Fingerprinter {
 public:
  Fingerprinter();

  void add(std::span<const std::byte> bytes);
  /// Adds a length-prefixed text, so that ("ab","c") and ("a","bc") differ.
  void add(std::string_view text);
  void add(std::int64_t value);

  Fingerprint finish();

 private:
  void compress(const std::byte* block);

  std::array<std::uint32_t, 8> state_;
  std::array<std::byte, 64> buffer_{};
  std::size_t buffered_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace frostline
