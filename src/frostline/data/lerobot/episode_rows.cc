#include "frostline/data/lerobot/episode_rows.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/data/image_codec.h"
#include "frostline/data/lerobot/info.h"
#include "frostline/data/lerobot/metadata.h"

namespace frostline::data {

namespace {

constexpr std::size_t kRowGroup_bytes = 1 << 20;

ColumnData feature_column(const Feature& feature) {
  const std::int64_t dim = num_elements(feature.shape);
  return {.name = feature.name,
          .layout = dim == 1 ? ColumnLayout::kScalar : ColumnLayout::kFixedList,
          .dtype = feature.dtype,
          .width = dim};
}

ColumnData number(std::string name, double value, DType dtype = DType::kI64) {
  return {.name = std::move(name), .dtype = dtype, .numbers = {value}};
}

bool is_camera(const WriterOptions& options, const std::string& name) {
  return std::ranges::find(options.cameras, name, &Camera::name) != options.cameras.end();
}

/// Names of the features that have statistics, in the order of `EpisodeRows::statistics`.
std::vector<std::string> statistics_names(const WriterOptions& options) {
  std::vector<std::string> names;
  for (const Feature& feature : options.features) {
    names.push_back(feature.name);
  }
  for (const Camera& camera : options.cameras) {
    names.push_back(camera.name);
  }
  names.insert(names.end(), std::begin(kAutomaticFeatures), std::end(kAutomaticFeatures));
  return names;
}

}  // namespace

std::vector<ColumnData> empty_data_columns(const WriterOptions& options) {
  std::vector<ColumnData> columns;
  for (const Feature& feature : options.features) {
    columns.push_back(feature_column(feature));
  }
  for (const Camera& camera : options.cameras) {
    if (!is_video_codec(camera.codec)) {
      columns.push_back({.name = camera.name, .layout = ColumnLayout::kImage});
    }
  }
  for (const std::string name : kAutomaticFeatures) {
    columns.push_back({.name = name, .dtype = name == "timestamp" ? DType::kF32 : DType::kI64});
  }
  return columns;
}

EpisodeRows::EpisodeRows(const WriterOptions& options, EpisodeStart start)
    : options_(options), start_(std::move(start)), histograms_(options.cameras.size()) {
  for (const Feature& feature : options.features) {
    features_.push_back(feature_column(feature));
  }
  for (const Camera& camera : options.cameras) {
    images_.push_back({.name = camera.name, .layout = ColumnLayout::kImage});
  }
  for (const std::string name : kAutomaticFeatures) {
    automatic_.push_back({.name = name, .dtype = name == "timestamp" ? DType::kF32 : DType::kI64});
  }
}

void EpisodeRows::check(const FrameData& frame) const {
  FROSTLINE_REQUIRE(frame.features.size() == options_.features.size() &&
                        frame.images.size() == options_.cameras.size(),
                    ErrorCode::kUsage,
                    "frame has another number of features or images than the data set",
                    fmt::format("features={} expected={} images={} expected={}",
                                frame.features.size(),
                                options_.features.size(),
                                frame.images.size(),
                                options_.cameras.size()));
  for (std::size_t i = 0; i < frame.features.size(); ++i) {
    const std::string& name = options_.features[i].name;
    FROSTLINE_REQUIRE(
        std::ssize(frame.features[i]) == features_[i].width,
        ErrorCode::kUsage,
        "feature has another size than the data set",
        fmt::format(
            "feature={} size={} expected={}", name, frame.features[i].size(), features_[i].width));
    const auto bad =
        std::ranges::find_if(frame.features[i], [](float value) { return !std::isfinite(value); });
    FROSTLINE_REQUIRE(bad == frame.features[i].end(),
                      ErrorCode::kNumeric,
                      "value to be recorded is not finite",
                      fmt::format("feature={} dimension={} value={} episode={} frame={}",
                                  name,
                                  bad - frame.features[i].begin(),
                                  *bad,
                                  start_.index,
                                  length_));
  }
  for (std::size_t i = 0; i < frame.images.size(); ++i) {
    FROSTLINE_REQUIRE(frame.images[i].size() == options_.cameras[i].num_bytes(),
                      ErrorCode::kUsage,
                      "image has another size than its camera",
                      fmt::format("camera={} bytes={} expected={}",
                                  options_.cameras[i].name,
                                  frame.images[i].size(),
                                  options_.cameras[i].num_bytes()));
  }
}

void EpisodeRows::add(const FrameData& frame) {
  for (std::size_t i = 0; i < frame.features.size(); ++i) {
    features_[i].numbers.insert(
        features_[i].numbers.end(), frame.features[i].begin(), frame.features[i].end());
  }
  for (std::size_t i = 0; i < frame.images.size(); ++i) {
    const Camera& camera = options_.cameras[i];
    histograms_[i].add(frame.images[i], camera.height_px, camera.width_px);
    if (!is_video_codec(camera.codec)) {
      images_[i].texts.push_back(encode_image(camera, frame.images[i]));
    }
  }
  const double values[] = {static_cast<double>(length_) / static_cast<double>(options_.fps),
                           static_cast<double>(length_),
                           static_cast<double>(start_.index),
                           static_cast<double>(start_.first_frame + length_),
                           static_cast<double>(start_.task_index)};
  for (std::size_t i = 0; i < automatic_.size(); ++i) {
    automatic_[i].numbers.push_back(values[i]);
  }
  ++length_;
}

NamedStatistics EpisodeRows::statistics() const {
  NamedStatistics statistics;
  for (const ColumnData& column : features_) {
    statistics.emplace_back(column.name, summarise(column.numbers, column.width));
  }
  for (std::size_t i = 0; i < histograms_.size(); ++i) {
    statistics.emplace_back(options_.cameras[i].name, histograms_[i].summary());
  }
  for (const ColumnData& column : automatic_) {
    statistics.emplace_back(column.name, summarise(column.numbers, 1));
  }
  return statistics;
}

std::vector<std::int64_t> EpisodeRows::row_groups() const {
  std::size_t image_bytes = 0;
  for (const ColumnData& column : images_) {
    if (!column.texts.empty()) {
      image_bytes += column.texts.front().size();
    }
  }
  if (image_bytes == 0) {
    return {length_};
  }
  const auto most =
      static_cast<std::int64_t>(std::max<std::size_t>(1, kRowGroup_bytes / image_bytes));
  std::vector<std::int64_t> groups;
  for (std::int64_t begin = 0; begin < length_; begin += most) {
    groups.push_back(std::min(most, length_ - begin));
  }
  return groups;
}

std::vector<ColumnData> EpisodeRows::take() {
  std::vector<ColumnData> columns = std::move(features_);
  for (std::size_t i = 0; i < images_.size(); ++i) {
    if (!is_video_codec(options_.cameras[i].codec)) {
      columns.push_back(std::move(images_[i]));
    }
  }
  std::ranges::move(automatic_, std::back_inserter(columns));
  return columns;
}

std::vector<ColumnData> episode_row(const WriterOptions& options,
                                    const EpisodeStart& start,
                                    std::int64_t length,
                                    const EpisodePlaces& places,
                                    const NamedStatistics& statistics) {
  const auto whole = [](std::int64_t value) { return static_cast<double>(value); };
  const auto fps = static_cast<double>(options.fps);
  std::vector<ColumnData> row;
  row.push_back(number("episode_index", whole(start.index)));
  row.push_back({.name = "tasks", .layout = ColumnLayout::kTextList, .text_lists = {{start.task}}});
  row.push_back(number("length", whole(length)));
  row.push_back(number("data/chunk_index", whole(places.data.chunk())));
  row.push_back(number("data/file_index", whole(places.data.file())));
  row.push_back(number("dataset_from_index", whole(start.first_frame)));
  row.push_back(number("dataset_to_index", whole(start.first_frame + length)));
  for (std::size_t i = 0; i < options.cameras.size(); ++i) {
    if (is_video_codec(options.cameras[i].codec)) {
      const std::string prefix = "videos/" + options.cameras[i].name + "/";
      const VideoPlace& place = places.videos[i];
      row.push_back(number(prefix + "chunk_index", whole(place.number.chunk())));
      row.push_back(number(prefix + "file_index", whole(place.number.file())));
      row.push_back(number(prefix + "from_timestamp", whole(place.first_frame) / fps, DType::kF64));
      row.push_back(
          number(prefix + "to_timestamp", whole(place.first_frame + length) / fps, DType::kF64));
    }
  }
  for (const auto& [name, figures] : statistics) {
    const bool is_image = is_camera(options, name);
    for (const auto& [key, member] : kStatisticKeys) {
      row.push_back({.name = fmt::format("stats/{}/{}", name, key),
                     .layout = is_image ? ColumnLayout::kPerChannel : ColumnLayout::kList,
                     .width = std::ssize(figures.*member),
                     .numbers = figures.*member});
    }
    row.push_back({.name = fmt::format("stats/{}/count", name),
                   .layout = ColumnLayout::kList,
                   .dtype = DType::kI64,
                   .numbers = {whole(figures.count)}});
  }
  row.push_back(number("meta/episodes/chunk_index", whole(places.episodes.chunk())));
  row.push_back(number("meta/episodes/file_index", whole(places.episodes.file())));
  return row;
}

std::vector<NamedStatistics> read_episode_statistics(const WriterOptions& options,
                                                     const std::filesystem::path& path) {
  const ParquetFile file(path);
  std::vector<NamedStatistics> episodes(static_cast<std::size_t>(file.num_rows()));
  for (const std::string& name : statistics_names(options)) {
    for (NamedStatistics& episode : episodes) {
      episode.emplace_back(name, FeatureStatistics{});
    }
    for (const auto& [key, member] : kStatisticKeys) {
      const Numbers numbers = file.read_numbers(fmt::format("stats/{}/{}", name, key));
      auto at = numbers.values.begin();
      for (NamedStatistics& episode : episodes) {
        (episode.back().second.*member).assign(at, at + numbers.width);
        at += numbers.width;
      }
    }
    const Numbers counts = file.read_numbers(fmt::format("stats/{}/count", name));
    for (std::size_t i = 0; i < episodes.size(); ++i) {
      episodes[i].back().second.count = static_cast<std::int64_t>(counts.values[i]);
    }
  }
  return episodes;
}

}  // namespace frostline::data
