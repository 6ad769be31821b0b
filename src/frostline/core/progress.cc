#include "frostline/core/progress.h"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

#include <fmt/format.h>

#include "frostline/core/clock.h"

namespace frostline {

Progress::Progress(std::string title, std::int64_t total, std::string unit)
    : title_(std::move(title)),
      total_(total),
      unit_(std::move(unit)),
      is_terminal_(::isatty(STDERR_FILENO) == 1),
      started_ns_(Clock::steady().now_ns()),
      shown_ns_(started_ns_) {}

Progress::~Progress() {
  if (done_ > 0) {
    show(done_, note_, true);
  }
}

void Progress::update(std::int64_t done, const std::string& note) {
  if (first_done_ < 0) {
    first_done_ = std::max<std::int64_t>(done - 1, 0);
  }
  done_ = done;
  note_ = note;
  const std::int64_t now_ns = Clock::steady().now_ns();
  const std::int64_t period_ns = is_terminal_ ? 200'000'000 : 10'000'000'000;
  if (now_ns - shown_ns_ < period_ns) {
    return;
  }
  shown_ns_ = now_ns;
  show(done, note, false);
}

void Progress::show(std::int64_t done, const std::string& note, bool is_last) {
  const double elapsed_s = seconds(Clock::steady().now_ns() - started_ns_);
  const double rate = elapsed_s > 0 ? static_cast<double>(done - first_done_) / elapsed_s : 0;
  const double left_s = rate > 0 ? static_cast<double>(total_ - done) / rate : 0;
  const std::string line = fmt::format(
      "{} {}/{} {} {:.1f}/s {}{}{}",
      title_,
      done,
      total_,
      unit_,
      rate,
      is_last ? fmt::format("in {:.1f} s", elapsed_s) : fmt::format("{:.0f} s left", left_s),
      note.empty() ? "" : " ",
      note);
  if (is_terminal_) {
    fmt::print(stderr, "\r\x1b[2K{}{}", line, is_last ? "\n" : "");
  } else {
    fmt::print(stderr, "{}\n", line);
  }
  std::fflush(stderr);
}

}  // namespace frostline
