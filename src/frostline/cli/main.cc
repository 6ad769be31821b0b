#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "frostline/cli/config_flags.h"
#include "frostline/cli/verb.h"
#include "frostline/core/error.h"
#include "frostline/core/log.h"
#include "frostline/core/shutdown.h"
#include "frostline/version.h"

namespace {

int run(int argc, char** argv) {
  CLI::App app("Frostline trains robot policies with the frozen encoder taken off the GPU.",
               "frostline");
  app.set_version_flag("--version", std::string(frostline::kVersion));
  app.require_subcommand(1);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  frostline::cli::add_demo(app);
  frostline::cli::add_doctor(app);
  frostline::cli::add_data(app);
  frostline::cli::add_pretrain(app);
  frostline::cli::add_train(app);
  frostline::cli::add_encoder(app);
  frostline::cli::add_cache(app);
  frostline::cli::add_eval(app);
  frostline::cli::add_compare(app);
  frostline::cli::add_policy(app);
  try {
    auto arguments = frostline::cli::expand_config(app, {argv + 1, argv + argc});
    // CLI11 takes the arguments in reverse order.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? 0 : frostline::exit_code(frostline::ErrorCode::kUsage);
  }
  return 0;
}

/// Makes OpenMP's threads sleep while they wait. Spinning ones lose several times their own speed
/// as soon as anything else wants their core, a decoding thread of ours included (measured on 2
/// cores: 260 ms instead of 85 ms a step). The run time reads the variable before `main`, hence the
/// second start; a value that the user set stands, and verbs that compute nothing do without.
void wait_passively(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  const bool computes = verb == "demo" || verb == "train" || verb == "pretrain" || verb == "eval";
  if (computes && std::getenv("OMP_WAIT_POLICY") == nullptr &&
      ::setenv("OMP_WAIT_POLICY", "PASSIVE", 1) == 0) {
    ::execv("/proc/self/exe", argv);  // Returns only when it fails; then we go on as we are.
  }
}

}  // namespace

int main(int argc, char** argv) {
  wait_passively(argc, argv);
  frostline::install_shutdown_handlers();
  try {
    return run(argc, argv);
  } catch (const frostline::Error& error) {
    frostline::log_line(frostline::LogLevel::kError, error.what());
    return frostline::exit_code(error.code());
  } catch (const std::exception& error) {
    frostline::log_line(frostline::LogLevel::kError,
                        fmt::format("internal error: {} ; please report this", error.what()));
    return frostline::exit_code(frostline::ErrorCode::kInternal);
  }
}
