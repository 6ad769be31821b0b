#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/data/lerobot/content.h"
#include "frostline/data/parquet/columns.h"

namespace frostline::data {

namespace fs = std::filesystem;

namespace {

constexpr const char* kRestore =
    "restore the file from its source, for example by downloading the data set again";

std::vector<std::int64_t> whole_numbers(const ParquetFile& file, const std::string& column) {
  const Numbers numbers = file.read_numbers(column);
  std::vector<std::int64_t> values;
  values.reserve(numbers.values.size());
  for (const double value : numbers.values) {
    values.push_back(static_cast<std::int64_t>(value));
  }
  return values;
}

void read_episodes_file(const fs::path& path, LeRobotContent& content) {
  const ParquetFile file(path);
  const LeRobotInfo& meta = content.meta;
  const auto index = whole_numbers(file, "episode_index");
  const auto length = whole_numbers(file, "length");
  const auto chunk = whole_numbers(file, "data/chunk_index");
  const auto number = whole_numbers(file, "data/file_index");
  const auto begin = whole_numbers(file, "dataset_from_index");
  const auto end = whole_numbers(file, "dataset_to_index");
  const std::size_t first = content.episodes.size();
  for (std::size_t row = 0; row < index.size(); ++row) {
    Episode episode;
    episode.index = index[row];
    episode.range = {0, length[row]};
    episode.stated_begin = begin[row];
    episode.stated_end = end[row];
    episode.data_file = format_path(meta.paths.data, "", chunk[row], number[row]);
    episode.videos.resize(meta.info.cameras.size());
    content.episodes.push_back(std::move(episode));
  }
  for (std::size_t camera = 0; camera < meta.info.cameras.size(); ++camera) {
    if (!meta.camera_is_video[camera]) {
      continue;
    }
    const std::string& name = meta.info.cameras[camera].name;
    const auto video_chunk = whole_numbers(file, fmt::format("videos/{}/chunk_index", name));
    const auto video_number = whole_numbers(file, fmt::format("videos/{}/file_index", name));
    const Numbers from = file.read_numbers(fmt::format("videos/{}/from_timestamp", name));
    for (std::size_t row = 0; row < index.size(); ++row) {
      content.episodes[first + row].videos[camera] = {
          format_path(meta.paths.video, name, video_chunk[row], video_number[row]),
          std::llround(from.values[row] * static_cast<double>(meta.info.fps))};
    }
  }
}

void check_counts(const LeRobotContent& content, Findings& findings) {
  const DatasetInfo& info = content.meta.info;
  const fs::path file = info.root / kInfoFile;
  const std::int64_t num_episodes = std::ssize(content.episodes);
  const std::int64_t num_frames = content.episodes.empty() ? 0 : content.episodes.back().range.end;
  if (info.num_episodes == num_episodes && info.num_frames == num_frames) {
    return;
  }
  const std::string counts =
      fmt::format("info.json: episodes={} frames={} ; meta/episodes: episodes={} frames={}",
                  info.num_episodes,
                  info.num_frames,
                  num_episodes,
                  num_frames);
  if (!content.is_unfinished) {
    add_error(findings,
              "counts_disagree",
              file,
              "counts disagree: " + counts,
              "restore meta/ from its source: info.json and meta/episodes belong together");
  }
}

void check_episodes(const LeRobotContent& content, Findings& findings) {
  std::set<std::int64_t> seen;
  std::int64_t expected = 0;
  for (const Episode& episode : content.episodes) {
    const auto add =
        [&](Severity severity, std::string code, std::string message, std::string remedy) {
          findings.push_back({severity,
                              std::move(code),
                              (content.meta.info.root / kEpisodesFolder).string(),
                              episode.index,
                              std::nullopt,
                              std::move(message),
                              std::move(remedy)});
        };
    if (episode.range.length() <= 0) {
      add(Severity::kError,
          "empty_episode",
          fmt::format("episode length is zero: episode={}", episode.index),
          "remove the episode from the data set, for example with lerobot-edit-dataset");
    }
    if (!seen.insert(episode.index).second) {
      add(Severity::kError,
          "duplicate_episode",
          fmt::format("episode is listed twice: episode={}", episode.index),
          "restore meta/episodes from its source");
    } else if (episode.index != expected) {
      add(Severity::kWarning,
          "episode_gap",
          fmt::format(
              "episode_index values have a gap: found={} expected={}", episode.index, expected),
          "none needed here: episodes are addressed by their index, not by their place");
    }
    expected = episode.index + 1;
    if (episode.stated_end - episode.stated_begin != episode.range.length()) {
      add(Severity::kError,
          "counts_disagree",
          fmt::format("length of the episode disagrees with its range: episode={} length={} "
                      "dataset_from_index={} dataset_to_index={}",
                      episode.index,
                      episode.range.length(),
                      episode.stated_begin,
                      episode.stated_end),
          "restore meta/episodes from its source");
    }
  }
}

std::vector<fs::path> list_parquet(const fs::path& folder) {
  std::vector<fs::path> files;
  if (fs::is_directory(folder)) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".parquet") {
        files.push_back(entry.path());
      }
    }
  }
  std::ranges::sort(files);
  return files;
}

void load_tasks(LeRobotContent& content, Findings& findings) {
  const fs::path path = content.meta.info.root / kTasksFile;
  if (!fs::exists(path)) {
    add_error(findings, "missing_file", path, "file is missing: it names the tasks", kRestore);
    return;
  }
  try {
    const ParquetFile file(path);
    const auto indices = whole_numbers(file, "task_index");
    const char* column = file.has_column("task") ? "task" : "__index_level_0__";
    const auto names = file.read_texts(column);
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto index = static_cast<std::size_t>(indices[row]);
      FROSTLINE_REQUIRE(
          index < indices.size(),
          ErrorCode::kData,
          "task_index is out of range",
          fmt::format(
              "file={} task_index={} tasks={}", path.string(), indices[row], indices.size()));
      content.meta.info.tasks.resize(indices.size());
      content.meta.info.tasks[index] = names[row];
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kUnsupported) {
      throw;
    }
    add_error(findings, "damaged_file", path, error.what(), kRestore);
  }
}

}  // namespace

bool load_episodes(LeRobotContent& content, Findings& findings) {
  const fs::path& root = content.meta.info.root;
  const std::vector<fs::path> files = list_parquet(root / kEpisodesFolder);
  if (files.empty()) {
    if (content.is_unfinished) {
      add_error(findings,
                "no_episodes",
                root / kRecordingFile,
                "recording was interrupted before its first episode was finished",
                "record again into the same folder, or delete it");
    } else {
      add_error(findings,
                "missing_file",
                root / kEpisodesFolder,
                "no Parquet file lists the episodes",
                kRestore);
    }
    return false;
  }
  load_tasks(content, findings);
  bool is_complete = true;
  for (const fs::path& file : files) {
    try {
      read_episodes_file(file, content);
      content.episode_files.push_back(fs::relative(file, root).string());
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kUnsupported) {
        throw;
      }
      add_error(findings, "damaged_file", file, error.what(), kRestore);
      is_complete = false;
    }
  }
  std::ranges::stable_sort(content.episodes, {}, &Episode::index);
  std::int64_t begin = 0;
  for (Episode& episode : content.episodes) {
    episode.range = {begin, begin + std::max<std::int64_t>(0, episode.range.length())};
    begin = episode.range.end;
  }
  if (is_complete) {
    check_counts(content, findings);
  }
  check_episodes(content, findings);
  if (content.episodes.empty()) {
    add_error(findings,
              "no_episodes",
              root / kEpisodesFolder,
              "data set has no episodes",
              "record or download some");
  }
  return !content.episodes.empty();
}

}  // namespace frostline::data
