#include "frostline/core/log.h"

#include <memory>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace frostline {

namespace {

spdlog::logger& logger() {
  static const auto instance = [] {
    auto created = std::make_shared<spdlog::logger>(
        "frostline", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    created->set_pattern("%^%l%$: %v");
    return created;
  }();
  return *instance;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

void log_line(LogLevel level, std::string_view text) {
  logger().log(to_spdlog(level), "{}", text);
}

void set_log_level(LogLevel level) {
  logger().set_level(to_spdlog(level));
}

}  // namespace frostline
