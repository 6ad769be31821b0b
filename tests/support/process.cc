#include "tests/support/process.h"

#include <atomic>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frostline/core/error.h"
#include "frostline/core/file.h"
#include "tests/support/temp_folder.h"

namespace frostline::test {

Process::Process(const std::vector<std::string>& arguments, const std::filesystem::path& folder)
    : out_(folder / "stdout"), err_(folder / "stderr") {
  std::vector<char*> pointers;
  for (const auto& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));
  }
  pointers.push_back(nullptr);
  id_ = ::fork();
  FROSTLINE_CHECK(id_ >= 0);
  if (id_ == 0) {
    // Only calls that are safe after a fork of a process with threads.
    const int out = ::open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const int err = ::open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
}

Process::~Process() {
  if (!is_reaped_) {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, &status_, 0);
  }
}

bool Process::has_ended() {
  if (!is_reaped_ && ::waitpid(id_, &status_, WNOHANG) == id_) {
    is_reaped_ = true;
  }
  return is_reaped_;
}

void Process::signal(int number) const {
  if (!is_reaped_) {
    ::kill(id_, number);
  }
}

Ended Process::wait() {
  if (!is_reaped_) {
    FROSTLINE_CHECK(::waitpid(id_, &status_, 0) == id_);
    is_reaped_ = true;
  }
  Ended ended;
  if (WIFEXITED(status_)) {
    ended.exit_code = WEXITSTATUS(status_);
  } else {
    ended.signal = WTERMSIG(status_);
  }
  ended.out = read_file(out_);
  ended.err = read_file(err_);
  return ended;
}

Ended run_program(const std::vector<std::string>& arguments) {
  const TempFolder folder;
  return Process(arguments, folder.path()).wait();
}

std::vector<Ended> run_programs(const std::vector<std::vector<std::string>>& programs) {
  std::vector<Ended> results(programs.size());
  std::atomic<std::size_t> next{0};
  {
    std::vector<std::jthread> runners;
    for (int i = 0; i < 2; ++i) {
      runners.emplace_back([&] {
        for (std::size_t at = next++; at < programs.size(); at = next++) {
          results[at] = run_program(programs[at]);
        }
      });
    }
  }
  return results;
}

}  // namespace frostline::test
