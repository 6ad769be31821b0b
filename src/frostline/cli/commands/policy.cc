#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "frostline/cli/verb.h"
#include "frostline/core/error.h"
#include "frostline/policy/ar_actor_spec.h"
#include "frostline/policy/checkpoint.h"
#include "frostline/policy/policy_info.h"

namespace frostline::cli {

namespace {

struct Options {
  CommonOptions common;
  std::filesystem::path checkpoint;
  std::string preset;
};

void run(const Options& options) {
  FROSTLINE_REQUIRE(options.checkpoint.empty() != options.preset.empty(),
                    ErrorCode::kUsage,
                    "say which policy",
                    "give either a checkpoint or --preset paper|demo");
  const Json info = options.preset.empty()
                        ? policy::info(policy::read_encoder(options.checkpoint).spec)
                        : policy::info(policy::ar_actor_preset(options.preset));
  if (options.common.is_json) {
    print_json(info);
    return;
  }
  fmt::print("{} {}\n",
             info.at("policy").get<std::string>(),
             info.at("preset").is_null() ? "" : info.at("preset").get<std::string>());
  const auto& parameters = info.at("parameters");
  for (const auto& [module, count] : parameters.at("by_module").items()) {
    fmt::print("  {:<32} {:>12L}\n", module, count.get<std::int64_t>());
  }
  for (const char* part : {"encoder", "expert", "total"}) {
    fmt::print("{:<34} {:>12L}\n", part, parameters.at(part).get<std::int64_t>());
  }
}

}  // namespace

void add_policy(CLI::App& root) {
  auto* policy = root.add_subcommand("policy", "Describes a policy");
  policy->require_subcommand(1);
  auto* verb = policy->add_subcommand("info", "Stages and parameter counts by module");
  auto options = std::make_shared<Options>();
  add_common_options(*verb, options->common);
  verb->add_option("checkpoint", options->checkpoint, "Checkpoint folder or encoder file");
  verb->add_option("--preset", options->preset, "paper or demo");
  verb->callback([options] { run(*options); });
}

}  // namespace frostline::cli
