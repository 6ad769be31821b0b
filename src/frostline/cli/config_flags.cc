#include "frostline/cli/config_flags.h"

#include <algorithm>

#include <fmt/format.h>

#include "frostline/core/config.h"
#include "frostline/core/error.h"

namespace frostline::cli {

namespace {

std::string option_name(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
}

/// Deepest subcommand that the leading words name, and how many words that took.
std::pair<CLI::App*, std::size_t> find_verb(CLI::App& root,
                                            const std::vector<std::string>& arguments) {
  CLI::App* verb = &root;
  std::size_t depth = 0;
  while (depth < arguments.size()) {
    const auto found = verb->get_subcommands(
        [&](const CLI::App* child) { return child->get_name() == arguments[depth]; });
    if (found.empty()) {
      break;
    }
    verb = found.front();
    ++depth;
  }
  return {verb, depth};
}

std::vector<std::string> long_names(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const auto& name : option->get_lnames()) {
      names.push_back(name);
    }
  }
  return names;
}

void append_flag(const ConfigTable& table,
                 const std::string& key,
                 const CLI::Option& option,
                 std::vector<std::string>& flags) {
  const std::string flag = "--" + option_name(key);
  const bool is_flag = option.get_expected_max() == 0;
  if (is_flag) {
    if (table.get<bool>(key)) {
      flags.push_back(flag);
    }
    return;
  }
  flags.push_back(flag);
  flags.push_back(table.text(key));
}

}  // namespace

std::vector<std::string> expand_config(CLI::App& root, std::vector<std::string> arguments) {
  const auto [verb, depth] = find_verb(root, arguments);
  for (std::size_t i = depth; i < arguments.size(); ++i) {
    const bool is_split = arguments[i] == "--config" && i + 1 < arguments.size();
    const bool is_joined = arguments[i].rfind("--config=", 0) == 0;
    if (!is_split && !is_joined) {
      continue;
    }
    const std::string path = is_split ? arguments[i + 1] : arguments[i].substr(9);
    const auto first = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    arguments.erase(first, first + (is_split ? 2 : 1));
    const ConfigTable table = ConfigTable::read(path);
    const auto names = long_names(*verb);
    std::vector<std::string> flags;
    for (const auto& key : table.keys()) {
      const CLI::Option* option = verb->get_option_no_throw("--" + option_name(key));
      if (option == nullptr || option_name(key) == "config") {
        const std::string nearest = nearest_word(option_name(key), names);
        table.refuse(key,
                     nearest.empty()
                         ? fmt::format("unknown key '{}'", key)
                         : fmt::format("unknown key '{}' ; did you mean '{}'?", key, nearest));
      }
      append_flag(table, key, *option, flags);
    }
    arguments.insert(
        arguments.begin() + static_cast<std::ptrdiff_t>(depth), flags.begin(), flags.end());
    return arguments;
  }
  return arguments;
}

}  // namespace frostline::cli
