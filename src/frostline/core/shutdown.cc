#include "frostline/core/shutdown.h"

#include <atomic>
#include <csignal>

#include "frostline/core/error.h"

namespace frostline {

namespace {

// A signal handler can reach nothing but static storage.
std::atomic<bool> g_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int signal_number) {
  if (g_requested.exchange(true)) {
    std::signal(signal_number, SIG_DFL);
    std::raise(signal_number);
  }
}

}  // namespace

void install_shutdown_handlers() {
  struct sigaction action {};

  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool is_shutdown_requested() noexcept {
  return g_requested.load(std::memory_order_relaxed);
}

void request_shutdown() noexcept {
  g_requested.store(true);
}

void clear_shutdown_request() noexcept {
  g_requested.store(false);
}

void throw_if_shutdown_requested() {
  if (is_shutdown_requested()) {
    throw Error(ErrorCode::kInterrupted, "stopped on request");
  }
}

}  // namespace frostline
