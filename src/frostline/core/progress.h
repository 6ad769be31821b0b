#pragma once

#include <cstdint>
#include <string>

namespace frostline {

/// Shows how far a piece of work is on stderr: one rewritten line on a terminal, a plain line every
/// few seconds otherwise. One thread.
class Progress {
 public:
  /// `unit` is what is counted, for example "steps".
  Progress(std::string title, std::int64_t total, std::string unit);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(Progress&&) = delete;
  ~Progress();

  /// `note` is shown at the end of the line, for example the running loss.
  void update(std::int64_t done, const std::string& note = {});

 private:
  void show(std::int64_t done, const std::string& note, bool is_last);

  std::string title_;
  std::int64_t total_;
  std::string unit_;
  bool is_terminal_;
  std::int64_t started_ns_;
  std::int64_t shown_ns_;
  std::int64_t done_ = 0;
  std::int64_t first_done_ = -1;
  std::string note_;
};

}  // namespace frostline
