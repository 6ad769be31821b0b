#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "frostline/cli/verb.h"
#include "frostline/core/error.h"
#include "frostline/eval/outcome.h"
#include "frostline/eval/statistics.h"
#include "frostline/study/report.h"

namespace frostline::cli {

namespace {

struct Options {
  CommonOptions common;
  std::vector<std::filesystem::path> files;
  std::optional<double> margin;
};

void run(const Options& options) {
  FROSTLINE_REQUIRE(options.files.size() == 2,
                    ErrorCode::kUsage,
                    "compare takes two files",
                    fmt::format("given={}", options.files.size()));
  const auto a = eval::counted_outcomes(eval::read_outcomes(options.files[0]));
  const auto b = eval::counted_outcomes(eval::read_outcomes(options.files[1]));
  const auto comparison = eval::compare(eval::pair_outcomes(a, b), options.margin);
  if (options.common.is_json) {
    print_json({{"a", options.files[0].string()},
                {"b", options.files[1].string()},
                {"n", comparison.counts.pairs},
                {"a_only", comparison.counts.a_only},
                {"b_only", comparison.counts.b_only},
                {"difference", comparison.difference},
                {"low", comparison.interval.low},
                {"high", comparison.interval.high},
                {"p", comparison.p},
                {"verdict", to_string(comparison.verdict)}});
    return;
  }
  fmt::print("{}\n", eval::describe(comparison, "A", "B"));
}

}  // namespace

void add_compare(CLI::App& root) {
  auto* verb = root.add_subcommand("compare", "Paired statistics of two outcome files");
  auto options = std::make_shared<Options>();
  add_common_options(*verb, options->common);
  verb->add_option("outcomes", options->files, "Two outcomes.parquet files on common seeds")
      ->expected(2)
      ->required();
  verb->add_option(
      "--margin", options->margin, "Non-inferiority margin as a fraction, fixed before looking");
  verb->callback([options] { run(*options); });
}

}  // namespace frostline::cli
