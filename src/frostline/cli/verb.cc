#include "frostline/cli/verb.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <set>

#include <fmt/format.h>

#include "frostline/core/error.h"

namespace frostline::cli {

namespace {

template <class T>
T parse_number(std::string_view text, std::string_view whole) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  FROSTLINE_REQUIRE(
      error == std::errc() && end == text.data() + text.size(),
      ErrorCode::kUsage,
      "not a number or range",
      fmt::format("value='{}' ; write a number such as 7 or a range such as 0:20", whole));
  return value;
}

}  // namespace

void add_common_options(CLI::App& verb, CommonOptions& options) {
  verb.add_flag("--json", options.is_json, "Print one JSON document on stdout, logs on stderr");
  verb.add_option("--out", options.out, "Folder for the results");
  verb.add_option("--seed", options.seed, "Seed of everything random")->capture_default_str();
  // Expanded into flags before parsing; declared here for --help.
  verb.add_option("--config", "TOML file of option names (without --) and values; flags win");
}

void print_json(const Json& document) {
  fmt::print("{}\n", document.dump(2));
  std::fflush(stdout);
}

void print_text(const CommonOptions& options, const std::string& text) {
  fmt::print(options.is_json ? stderr : stdout, "{}\n", text);
}

std::filesystem::path output_folder(const CommonOptions& options, const std::string& verb) {
  if (!options.out.empty()) {
    return std::filesystem::absolute(options.out);
  }
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
  return std::filesystem::absolute(fmt::format("runs/{}-{}", verb, text.data()));
}

std::pair<std::uint64_t, std::uint64_t> parse_seed_range(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos) {
    const auto value = parse_number<std::uint64_t>(text, text);
    return {value, value + 1};
  }
  const auto begin = parse_number<std::uint64_t>(std::string_view(text).substr(0, colon), text);
  const auto end = parse_number<std::uint64_t>(std::string_view(text).substr(colon + 1), text);
  FROSTLINE_REQUIRE(begin < end,
                    ErrorCode::kUsage,
                    "empty range",
                    fmt::format("value='{}' ; ranges are half-open: 0:20 is 0..19", text));
  return {begin, end};
}

std::vector<std::int64_t> parse_index_list(const std::string& text) {
  std::set<std::int64_t> values;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto [first, last] = parse_seed_range(text.substr(begin, end - begin));
    for (std::uint64_t value = first; value < last; ++value) {
      values.insert(static_cast<std::int64_t>(value));
    }
    begin = end + 1;
  }
  return {values.begin(), values.end()};
}

}  // namespace frostline::cli
