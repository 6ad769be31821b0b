#include "frostline/core/error.h"

#include <fmt/format.h>

namespace frostline {

namespace {

std::string join(std::string_view message, std::string_view context) {
  return context.empty() ? std::string(message) : fmt::format("{}: {}", message, context);
}

}  // namespace

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return "usage";
    case ErrorCode::kConfig:
      return "config";
    case ErrorCode::kData:
      return "data";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kDevice:
      return "device";
    case ErrorCode::kDeviceLost:
      return "device_lost";
    case ErrorCode::kResource:
      return "resource";
    case ErrorCode::kNumeric:
      return "numeric";
    case ErrorCode::kInterrupted:
      return "interrupted";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
    case ErrorCode::kConfig:
      return 2;
    case ErrorCode::kData:
    case ErrorCode::kIo:
      return 3;
    case ErrorCode::kUnsupported:
    case ErrorCode::kDevice:
    case ErrorCode::kDeviceLost:
    case ErrorCode::kResource:
      return 4;
    case ErrorCode::kNumeric:
      return 5;
    case ErrorCode::kInterrupted:
      return 130;
    case ErrorCode::kInternal:
      return 70;
  }
  return 70;
}

Error::Error(ErrorCode code, std::string_view message, std::string_view context)
    : std::runtime_error(join(message, context)), code_(code) {}

namespace detail {

void check_failed(const char* condition, const char* file, int line) {
  throw Error(ErrorCode::kInternal,
              "a condition that must hold does not",
              fmt::format("{} at {}:{}; please report this", condition, file, line));
}

}  // namespace detail

}  // namespace frostline
