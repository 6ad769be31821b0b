#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "frostline/core/json.h"

namespace frostline::cli {

/// Options that every verb takes.
struct CommonOptions {
  bool is_json = false;
  std::filesystem::path out;
  std::uint64_t seed = 0;
};

/// Adds `--json`, `--out`, `--seed` and `--config` to a verb.
void add_common_options(CLI::App& verb, CommonOptions& options);

/// Prints the one JSON document of a `--json` run to stdout.
void print_json(const Json& document);

/// Prints a line of a human-readable result: to stdout, or to stderr when `--json` owns stdout.
void print_text(const CommonOptions& options, const std::string& text);

/// Returns `options.out`, or `runs/<verb>-<local time>` when it is empty.
std::filesystem::path output_folder(const CommonOptions& options, const std::string& verb);

/// Parses `A:B` (half-open) or a single number. Errors: `kUsage` with the value.
std::pair<std::uint64_t, std::uint64_t> parse_seed_range(const std::string& text);

/// Parses `3`, `0:10` (half-open) and comma lists of them into ascending values without doubles.
/// Errors: `kUsage` with the value.
std::vector<std::int64_t> parse_index_list(const std::string& text);

// One function a verb; each adds its options and its callback.
void add_cache(CLI::App& root);
void add_compare(CLI::App& root);
void add_data(CLI::App& root);
void add_demo(CLI::App& root);
void add_doctor(CLI::App& root);
void add_encoder(CLI::App& root);
void add_eval(CLI::App& root);
void add_policy(CLI::App& root);
void add_pretrain(CLI::App& root);
void add_train(CLI::App& root);

}  // namespace frostline::cli
