#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "frostline/cli/verb.h"
#include "frostline/core/progress.h"
#include "frostline/pipeline/feature_store.h"
#include "frostline/train/run_files.h"

namespace frostline::cli {

namespace {

namespace fs = std::filesystem;

struct Options {
  CommonOptions common;
  fs::path cache_dir;
};

fs::path folder_of(const Options& options) {
  return options.cache_dir.empty() ? train::default_cache_folder() : options.cache_dir;
}

Json describe_store(const fs::path& folder) {
  Json store = read_json(folder / "store.json");
  return {{"key", store.at("key")},
          {"folder", fs::absolute(folder).string()},
          {"num_anchors", store.at("num_anchors")},
          {"tensors", store.at("tensors")},
          {"bytes", fs::file_size(folder / "features.bin")},
          {"artefact", store.at("artefact")},
          {"dataset", store.at("dataset")},
          {"runtime", store.at("runtime")}};
}

Json list_stores(const fs::path& cache) {
  Json stores = Json::array();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(cache, error)) {
    if (fs::exists(entry.path() / "store.json")) {
      stores.push_back(describe_store(entry.path()));
    }
  }
  return stores;
}

void run_info(const Options& options) {
  const Json stores = list_stores(folder_of(options));
  if (options.common.is_json) {
    print_json({{"cache_dir", fs::absolute(folder_of(options)).string()}, {"stores", stores}});
    return;
  }
  fmt::print("{}: {} stores\n", folder_of(options).string(), stores.size());
  for (const auto& store : stores) {
    fmt::print("  {}  {} frames  {:.1f} MB\n",
               store["key"].get<std::string>().substr(0, 12),
               store["num_anchors"].get<std::int64_t>(),
               store["bytes"].get<double>() / 1e6);
  }
}

void run_verify(const Options& options) {
  Json checked = Json::array();
  for (const auto& store : list_stores(folder_of(options))) {
    const auto key = store["key"].get<std::string>();
    pipeline::FeatureStore(store["folder"].get<std::string>(), {key}).verify();
    checked.push_back(key);
    if (!options.common.is_json) {
      fmt::print("{}  ok\n", key.substr(0, 12));
    }
  }
  if (options.common.is_json) {
    print_json({{"verified", checked}});
  }
}

}  // namespace

void add_cache(CLI::App& root) {
  auto* cache = root.add_subcommand("cache", "Looks after stored features");
  cache->require_subcommand(1);
  auto options = std::make_shared<Options>();
  auto* info = cache->add_subcommand("info", "Lists stores with frames and size");
  auto* verify = cache->add_subcommand("verify", "Checks every store against its SHA-256");
  for (auto* verb : {info, verify}) {
    add_common_options(*verb, options->common);
    verb->add_option("--cache-dir", options->cache_dir, "Folder of feature stores");
  }
  info->callback([options] { run_info(*options); });
  verify->callback([options] { run_verify(*options); });
}

}  // namespace frostline::cli
