#include "frostline/eval/record_manifest.h"

#include <utility>

#include <fmt/format.h>

#include "frostline/core/error.h"

namespace frostline::eval {
namespace {

std::filesystem::path manifest_path(const std::filesystem::path& dataset) {
  return dataset / "meta" / "frostline.json";
}

RecordManifest parse(const Json& document) {
  RecordManifest manifest;
  manifest.options = document.at("options");
  manifest.renderer_version = document.at("renderer").get<std::string>();
  manifest.failed_seeds = document.at("failed_seeds").get<std::vector<std::uint64_t>>();
  manifest.num_passed_over = document.at("num_passed_over").get<std::int64_t>();
  manifest.is_finished = document.at("is_finished").get<bool>();
  for (const Json& entry : document.at("episodes")) {
    manifest.episodes.push_back({
        .env_seed = entry.at("env_seed").get<std::uint64_t>(),
        .start_position_m = entry.at("start_position_m").get<std::vector<double>>(),
        .first_success_step = entry.at("first_success_step").get<std::int64_t>(),
    });
  }
  return manifest;
}

/// Episodes that the data set itself counts.
std::size_t num_stored(const std::filesystem::path& dataset) {
  const std::filesystem::path path = dataset / "meta" / "info.json";
  if (!std::filesystem::exists(path)) {
    return 0;
  }
  const Json info = read_json(path);
  const auto total = info.find("total_episodes");
  FROSTLINE_REQUIRE(total != info.end() && total->is_number_unsigned(), ErrorCode::kData,
                    "the data set does not say how many episodes it holds",
                    fmt::format("file={} key=total_episodes", path.string()));
  return total->get<std::size_t>();
}

/// Why two manifests of options differ, for a message.
std::string difference(const Json& found, const Json& wanted) {
  std::string text;
  for (const auto& [key, value] : wanted.items()) {
    const auto other = found.find(key);
    if (other == found.end() || *other != value) {
      text += fmt::format("{}{}: recorded {}, asked for {}", text.empty() ? "" : "; ", key,
                          other == found.end() ? "nothing" : other->dump(), value.dump());
    }
  }
  return text.empty() ? "the recorded options have more keys" : text;
}

}  // namespace

void write_manifest(const std::filesystem::path& dataset, const RecordManifest& manifest) {
  Json episodes = Json::array();
  for (const RecordedEpisode& episode : manifest.episodes) {
    episodes.push_back({{"env_seed", episode.env_seed},
                        {"start_position_m", episode.start_position_m},
                        {"first_success_step", episode.first_success_step}});
  }
  const Json document = {{"options", manifest.options},
                         {"renderer", manifest.renderer_version},
                         {"is_finished", manifest.is_finished},
                         {"failed_seeds", manifest.failed_seeds},
                         {"num_passed_over", manifest.num_passed_over},
                         {"episodes", std::move(episodes)}};
  std::filesystem::create_directories(manifest_path(dataset).parent_path());
  write_json(manifest_path(dataset), document);
}

std::optional<RecordManifest> read_manifest(const std::filesystem::path& dataset) {
  const std::filesystem::path path = manifest_path(dataset);
  if (!std::filesystem::exists(path)) {
    return std::nullopt;
  }
  const Json document = read_json(path);
  try {
    return parse(document);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::kData, "the record of how the data set was made is malformed",
                fmt::format("file={} reason={}", path.string(), error.what()));
  }
}

RecordManifest resume_manifest(const std::filesystem::path& dataset, const Json& options,
                               const std::string& renderer_version) {
  const std::size_t stored = num_stored(dataset);
  std::optional<RecordManifest> found = read_manifest(dataset);
  if (!found || (stored == 0 && !found->is_finished)) {
    FROSTLINE_REQUIRE(stored == 0, ErrorCode::kData,
                      "the folder holds a data set that was not recorded here",
                      fmt::format("folder={} episodes={}; choose another folder", dataset.string(),
                                  stored));
    RecordManifest fresh;
    fresh.options = options;
    fresh.renderer_version = renderer_version;
    return fresh;
  }
  FROSTLINE_REQUIRE(found->options == options, ErrorCode::kData,
                    "the folder holds a recording with other options",
                    fmt::format("folder={} {}; choose another folder", dataset.string(),
                                difference(found->options, options)));
  FROSTLINE_REQUIRE(
      found->renderer_version == renderer_version || found->is_finished, ErrorCode::kData,
      "the recording was begun with another renderer, whose images differ",
      fmt::format("folder={} recorded='{}' here='{}'; choose another folder", dataset.string(),
                  found->renderer_version, renderer_version));
  FROSTLINE_REQUIRE(stored <= found->episodes.size(), ErrorCode::kData,
                    "the data set holds episodes that the record does not list",
                    fmt::format("folder={} episodes={} listed={}", dataset.string(), stored,
                                found->episodes.size()));
  found->episodes.resize(stored);
  if (!found->is_finished) {
    std::erase_if(found->failed_seeds, [&](std::uint64_t seed) {
      return seed > found->episodes.back().env_seed;
    });
  }
  return std::move(*found);
}

}  // namespace frostline::eval
