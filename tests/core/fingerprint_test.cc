#include "frostline/core/fingerprint.h"

#include <gtest/gtest.h>

namespace frostline {
namespace {

std::string sha256(const std::string& text) {
  Fingerprinter hash;
  hash.add(std::as_bytes(std::span(text.data(), text.size())));
  return hash.finish().hex;
}

// Vectors of FIPS 180-4's examples.
TEST(Fingerprint, IsSha256) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Fingerprint, PiecesCountTheSameAsTheWhole) {
  const std::string text(1000, 'x');
  Fingerprinter pieces;
  for (std::size_t i = 0; i < text.size(); i += 37) {
    const auto piece = text.substr(i, 37);
    pieces.add(std::as_bytes(std::span(piece.data(), piece.size())));
  }
  EXPECT_EQ(pieces.finish().hex, sha256(text));
}

TEST(Fingerprint, TextsAreLengthPrefixed) {
  Fingerprinter a;
  a.add("ab");
  a.add("c");
  Fingerprinter b;
  b.add("a");
  b.add("bc");
  EXPECT_NE(a.finish(), b.finish());
}

}  // namespace
}  // namespace frostline
