#pragma once

#include <string_view>

#include <fmt/format.h>

namespace frostline {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// Writes one line to stderr, never to stdout, which belongs to results. Thread-safe.
void log_line(LogLevel level, std::string_view text);

/// Lines below `level` are dropped (default kInfo).
void set_log_level(LogLevel level);

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
}

template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_line(LogLevel::kWarning, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace frostline
