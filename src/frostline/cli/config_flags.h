#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace frostline::cli {

/// Replaces `--config FILE` in `arguments` (without the program's name) by one flag for each key of
/// the TOML file, placed before the other flags of the verb, so that flags given by hand win.
/// Keys are option names without dashes in front; `_` and `-` are the same.
/// Errors: `kConfig` naming file, key and the nearest known key; `kIo`.
std::vector<std::string> expand_config(CLI::App& root, std::vector<std::string> arguments);

}  // namespace frostline::cli
