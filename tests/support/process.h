#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace frostline::test {

/// What a program left when it ended.
struct Ended {
  int exit_code = -1;  ///< -1 when a signal ended it.
  int signal = 0;
  std::string out;
  std::string err;
};

/// A child program whose output goes to files. Ends with the object. One thread.
class Process {
 public:
  /// `arguments[0]` is the program's path. Output is kept under `folder`.
  Process(const std::vector<std::string>& arguments, const std::filesystem::path& folder);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  Process(Process&&) = delete;
  Process& operator=(Process&&) = delete;
  ~Process();

  bool has_ended();
  void signal(int number) const;
  Ended wait();

 private:
  std::filesystem::path out_;
  std::filesystem::path err_;
  pid_t id_ = -1;
  bool is_reaped_ = false;
  int status_ = 0;
};

/// Runs a program to its end.
Ended run_program(const std::vector<std::string>& arguments);

/// Runs programs to their ends, two at a time; results are in the order of `programs`.
std::vector<Ended> run_programs(const std::vector<std::vector<std::string>>& programs);

}  // namespace frostline::test
