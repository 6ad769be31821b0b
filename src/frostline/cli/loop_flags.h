#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "frostline/cli/verb.h"
#include "frostline/train/options.h"

namespace frostline::cli {

/// Flags that `train` and `pretrain` share; `finish_loop_flags` turns the texts into values.
struct LoopFlags {
  train::LoopOptions options;
  std::string episodes;
};

void add_loop_flags(CLI::App& verb, LoopFlags& flags);

/// Fills episodes, seed and run folder.
train::LoopOptions finish_loop_flags(const LoopFlags& flags,
                                     const CommonOptions& common,
                                     const std::string& verb);

}  // namespace frostline::cli
