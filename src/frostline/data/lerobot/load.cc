#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/core/json.h"
#include "frostline/data/lerobot/content.h"
#include "frostline/data/parquet/columns.h"

namespace frostline::data {

namespace fs = std::filesystem;

namespace {

constexpr const char* kRestore =
    "restore the file from its source; for a recording that was killed, its other files are intact";

void flatten(const Json& value, std::vector<double>& out) {
  if (value.is_array()) {
    for (const Json& element : value) {
      flatten(element, out);
    }
  } else if (value.is_boolean()) {
    out.push_back(value.get<bool>() ? 1.0 : 0.0);
  } else if (value.is_null()) {
    // Python's json writes NaN, which is no JSON; other writers put null in its place.
    out.push_back(std::nan(""));
  } else {
    out.push_back(value.get<double>());
  }
}

std::vector<double> numbers_of(const Json& feature, const char* key) {
  std::vector<double> values;
  if (feature.contains(key)) {
    flatten(feature[key], values);
  }
  return values;
}

/// Copies the rows of one data file into the columns, episode by episode.
class DataFileLoader {
 public:
  DataFileLoader(LeRobotContent& content, Findings& findings, const std::string& file)
      : content_(content), findings_(findings), path_(content.meta.info.root / file) {
    for (Episode& episode : content.episodes) {
      if (episode.data_file == file) {
        episodes_.push_back(&episode);
      }
    }
  }

  void load() {
    if (!fs::exists(path_)) {
      add(std::nullopt,
          std::nullopt,
          "missing_file",
          fmt::format("data file is missing ; needed by {}", needed_by()));
      return;
    }
    try {
      const ParquetFile file(path_);
      if (place(file)) {
        for (const Feature& feature : content_.meta.info.features) {
          copy(file, feature);
        }
      }
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kUnsupported) {
        throw;
      }
      add(std::nullopt,
          std::nullopt,
          "damaged_file",
          fmt::format("{} ; needed by {}", error.what(), needed_by()));
    }
  }

 private:
  std::string needed_by() const {
    std::vector<std::int64_t> indices;
    for (const Episode* episode : episodes_) {
      indices.push_back(episode->index);
    }
    return describe_episodes(indices);
  }

  void add(std::optional<std::int64_t> episode,
           std::optional<std::int64_t> frame,
           std::string code,
           std::string message) {
    findings_.push_back({Severity::kError,
                         std::move(code),
                         path_.string(),
                         episode,
                         frame,
                         std::move(message),
                         kRestore});
  }

  /// Finds the first row of each episode and checks that its frames follow one another.
  bool place(const ParquetFile& file) {
    const Numbers episode_index = file.read_numbers("episode_index");
    const Numbers frame_index = file.read_numbers("frame_index");
    bool is_sound = true;
    std::int64_t num_used = 0;
    for (Episode* episode : episodes_) {
      const auto wanted = static_cast<double>(episode->index);
      const auto begin = std::ranges::find(episode_index.values, wanted);
      const auto end =
          std::find_if(begin, episode_index.values.end(), [&](double v) { return v != wanted; });
      episode->first_row = begin - episode_index.values.begin();
      const std::int64_t found = end - begin;
      num_used += found;
      if (found != episode->range.length()) {
        add(episode->index,
            std::nullopt,
            "counts_disagree",
            fmt::format("data file and meta/episodes differ in the length of an episode: "
                        "episode={} frames_in_file={} length={}",
                        episode->index,
                        found,
                        episode->range.length()));
        is_sound = false;
        continue;
      }
      for (std::int64_t frame = 0; frame < found; ++frame) {
        const double stored =
            frame_index.values[static_cast<std::size_t>(episode->first_row + frame)];
        if (stored != static_cast<double>(frame)) {
          add(episode->index,
              frame,
              "frame_gap",
              fmt::format("frames of an episode do not follow one another: episode={} place={} "
                          "frame_index={}",
                          episode->index,
                          frame,
                          stored));
          is_sound = false;
          break;
        }
      }
    }
    if (is_sound && num_used != file.num_rows() && !content_.is_unfinished) {
      add(std::nullopt,
          std::nullopt,
          "counts_disagree",
          fmt::format("data file holds rows that meta/episodes does not list: rows={} listed={}",
                      file.num_rows(),
                      num_used));
    }
    return is_sound;
  }

  void copy(const ParquetFile& file, const Feature& feature) {
    const Numbers numbers = file.read_numbers(feature.name);
    const std::int64_t dim = num_elements(feature.shape);
    if (numbers.width != dim) {
      add(std::nullopt,
          std::nullopt,
          "bad_shape",
          fmt::format("column has another width than info.json says: feature={} width={} shape={}",
                      feature.name,
                      numbers.width,
                      to_string(feature.shape)));
      return;
    }
    const std::span<float> column = content_.columns.at(feature.name).data<float>();
    for (const Episode* episode : episodes_) {
      const auto source = numbers.values.begin() + episode->first_row * dim;
      std::transform(source,
                     source + episode->range.length() * dim,
                     column.begin() + episode->range.begin * dim,
                     [](double value) { return static_cast<float>(value); });
    }
  }

  LeRobotContent& content_;
  Findings& findings_;
  fs::path path_;
  std::vector<Episode*> episodes_;
};

}  // namespace

std::string describe_episodes(const std::vector<std::int64_t>& episodes) {
  constexpr std::size_t kMost = 10;
  const std::size_t shown = std::min(kMost, episodes.size());
  return fmt::format(
      "{} episode{}: {}{}",
      episodes.size(),
      episodes.size() == 1 ? "" : "s",
      fmt::join(episodes.begin(), episodes.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
      shown < episodes.size() ? ", …" : "");
}

void load_statistics(LeRobotContent& content, Findings& findings) {
  const fs::path path = content.meta.info.root / kStatisticsFile;
  if (!fs::exists(path)) {
    add_warning(findings,
                "missing_file",
                path,
                "file is missing: there are no statistics to normalise with",
                kRestore);
    return;
  }
  try {
    const Json document = read_json(path);
    for (const auto& [name, feature] : document.items()) {
      FeatureStatistics& statistics = content.statistics[name];
      statistics.min = numbers_of(feature, "min");
      statistics.max = numbers_of(feature, "max");
      statistics.mean = numbers_of(feature, "mean");
      statistics.std = numbers_of(feature, "std");
      statistics.q01 = numbers_of(feature, "q01");
      statistics.q10 = numbers_of(feature, "q10");
      statistics.q50 = numbers_of(feature, "q50");
      statistics.q90 = numbers_of(feature, "q90");
      statistics.q99 = numbers_of(feature, "q99");
      const std::vector<double> count = numbers_of(feature, "count");
      statistics.count = count.empty() ? 0 : static_cast<std::int64_t>(count.front());
    }
  } catch (const Json::exception& error) {
    add_error(findings, "damaged_file", path, error.what(), kRestore);
  } catch (const Error& error) {
    add_error(findings, "damaged_file", path, error.what(), kRestore);
  }
}

void load_columns(LeRobotContent& content, Findings& findings) {
  const std::int64_t num_frames = content.episodes.back().range.end;
  for (const Feature& feature : content.meta.info.features) {
    content.columns.try_emplace(
        feature.name, DType::kF32, Shape{num_frames, num_elements(feature.shape)});
  }
  std::vector<std::string> files;
  for (const Episode& episode : content.episodes) {
    if (std::ranges::find(files, episode.data_file) == files.end()) {
      files.push_back(episode.data_file);
    }
  }
  for (const std::string& file : files) {
    DataFileLoader(content, findings, file).load();
  }
}

void load_content(const fs::path& root, LeRobotContent& out, Findings& findings) {
  out.is_unfinished = fs::exists(root / kRecordingFile);
  if (!read_info(root, out.meta, findings)) {
    return;
  }
  if (!load_episodes(out, findings)) {
    return;
  }
  if (out.is_unfinished) {
    add_warning(findings,
                "recording_unfinished",
                root / kRecordingFile,
                fmt::format("recording was interrupted: finished_episodes={}", out.episodes.size()),
                "record into the same folder with the same options to go on");
  }
  load_statistics(out, findings);
  load_columns(out, findings);
  check_videos(out, findings);
}

}  // namespace frostline::data
