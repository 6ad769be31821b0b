#include "frostline/eval/record_manifest.h"

#include <algorithm>
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
  manifest.is_finished = document.at("is_finished").get<bool>();
  for (const Json& entry : document.at("episodes")) {
    manifest.episodes.push_back({
        .env_seed = entry.at("env_seed").get<std::uint64_t>(),
        .start_position_m = entry.at("start_position_m").get<std::vector<double>>(),
        .first_success_step = entry.at("first_success_step").get<std::int64_t>(),
        .num_passed_over = entry.at("num_passed_over").get<std::int64_t>(),
    });
  }
  if (!manifest.episodes.empty()) {
    manifest.num_passed_over = manifest.episodes.back().num_passed_over;
  }
  return manifest;
}

/// Why two manifests of options differ, for a message.
std::string difference(const Json& found, const Json& wanted) {
  std::string text;
  for (const auto& [key, value] : wanted.items()) {
    const auto other = found.find(key);
    if (other == found.end() || *other != value) {
      text += fmt::format("{}{}: recorded {}, asked for {}",
                          text.empty() ? "" : "; ",
                          key,
                          other == found.end() ? "nothing" : other->dump(),
                          value.dump());
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
                        {"first_success_step", episode.first_success_step},
                        {"num_passed_over", episode.num_passed_over}});
  }
  const Json document = {{"options", manifest.options},
                         {"renderer", manifest.renderer_version},
                         {"is_finished", manifest.is_finished},
                         {"failed_seeds", manifest.failed_seeds},
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
    throw Error(ErrorCode::kData,
                "the record of how the data set was made is malformed",
                fmt::format("file={} reason={}", path.string(), error.what()));
  }
}

void require_same_recording(const std::filesystem::path& dataset,
                            const RecordManifest& found,
                            const RecordManifest& wanted) {
  FROSTLINE_REQUIRE(found.options == wanted.options,
                    ErrorCode::kData,
                    "the folder holds a recording with other options",
                    fmt::format("folder={} {}; choose another folder",
                                dataset.string(),
                                difference(found.options, wanted.options)));
  FROSTLINE_REQUIRE(found.renderer_version == wanted.renderer_version || found.is_finished,
                    ErrorCode::kData,
                    "the recording was begun with another renderer, whose images differ",
                    fmt::format("folder={} recorded='{}' here='{}'; choose another folder",
                                dataset.string(),
                                found.renderer_version,
                                wanted.renderer_version));
}

void cut_to_stored(const std::filesystem::path& dataset,
                   std::int64_t num_stored,
                   RecordManifest& manifest) {
  const auto stored = static_cast<std::size_t>(num_stored);
  FROSTLINE_REQUIRE(stored <= manifest.episodes.size(),
                    ErrorCode::kData,
                    "the folder holds episodes that were not recorded here",
                    fmt::format("folder={} episodes={} listed={}; choose another folder",
                                dataset.string(),
                                stored,
                                manifest.episodes.size()));
  manifest.episodes.resize(stored);
  // Counts of a search that will be made again.
  const RecordedEpisode* last = stored == 0 ? nullptr : &manifest.episodes.back();
  manifest.num_passed_over = last == nullptr ? 0 : last->num_passed_over;
  std::erase_if(manifest.failed_seeds,
                [last](std::uint64_t seed) { return last == nullptr || seed > last->env_seed; });
}

}  // namespace frostline::eval
