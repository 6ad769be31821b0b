#pragma once

#include <initializer_list>
#include <string>

#include <gtest/gtest.h>

#include "frostline/core/error.h"

namespace frostline::test {

/// Expects that `call` throws an `Error` of `code` whose text holds every one of `words`.
template <class Call>
void expect_error(Call&& call, ErrorCode code, std::initializer_list<std::string> words = {}) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown; wanted " << to_string(code);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const auto& word : words) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
          << "'" << word << "' is not in: " << error.what();
    }
  }
}

}  // namespace frostline::test
