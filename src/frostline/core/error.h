#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace frostline {

/// Says what kind of failure an `Error` is; decides the exit code of the command line.
enum class ErrorCode {
  kUsage,
  kConfig,
  kData,
  kIo,
  kUnsupported,
  kDevice,
  kDeviceLost,
  kResource,
  kNumeric,
  kInterrupted,
  kInternal,
};

/// Returns the stable lower-case name of `code`, for example `device_lost`.
std::string_view to_string(ErrorCode code);

/// Returns the process exit code of `code`: 2 usage and configuration, 3 data and I/O, 4 device,
/// resource and unsupported, 5 numeric, 70 internal, 130 interrupted.
int exit_code(ErrorCode code);

/// What the caller cannot continue past.
///
/// The text reads `message: context` where `message` says what was wrong and `context` gives the
/// values and what to do, for example
/// `episode length is zero: episode=12 file=data/… ; run 'frostline data verify'`.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string_view message, std::string_view context = {});

  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

namespace detail {
[[noreturn]] void check_failed(const char* condition, const char* file, int line);
}  // namespace detail

}  // namespace frostline

/// Throws `Error{kInternal}` when `condition` is false: a bug of ours, never of the input.
#define FROSTLINE_CHECK(condition)                                       \
  do {                                                                   \
    if (!(condition)) {                                                  \
      ::frostline::detail::check_failed(#condition, __FILE__, __LINE__); \
    }                                                                    \
  } while (false)

/// Throws `Error{code, message, context}` when `condition` is false: the input is at fault.
#define FROSTLINE_REQUIRE(condition, code, message, context)  \
  do {                                                        \
    if (!(condition)) {                                       \
      throw ::frostline::Error((code), (message), (context)); \
    }                                                         \
  } while (false)
