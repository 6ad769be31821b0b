#include "frostline/core/shutdown.h"

#include <csignal>

#include <gtest/gtest.h>

#include "frostline/core/error.h"

namespace frostline {
namespace {

TEST(Shutdown, SignalBecomesAnInterruptedError) {
  clear_shutdown_request();
  install_shutdown_handlers();
  EXPECT_NO_THROW(throw_if_shutdown_requested());
  std::raise(SIGINT);
  EXPECT_TRUE(is_shutdown_requested());
  try {
    throw_if_shutdown_requested();
    FAIL() << "must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInterrupted);
  }
  clear_shutdown_request();
}

}  // namespace
}  // namespace frostline
