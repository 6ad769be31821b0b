#pragma once

namespace frostline {

/// Makes SIGINT and SIGTERM ask for an orderly stop; a second one ends the process at once.
void install_shutdown_handlers();

/// True once a stop was asked for. Async-signal-safe to set, cheap to poll. Thread-safe.
bool is_shutdown_requested() noexcept;

/// Asks for a stop (also what the handlers do).
void request_shutdown() noexcept;

/// Forgets an earlier request, for tests.
void clear_shutdown_request() noexcept;

/// Errors: `kInterrupted` when a stop was asked for.
void throw_if_shutdown_requested();

}  // namespace frostline
