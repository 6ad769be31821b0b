#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/core/json.h"
#include "frostline/core/log.h"
#include "frostline/data/dataset_writer.h"
#include "frostline/data/lerobot/content.h"
#include "frostline/data/lerobot/episode_rows.h"
#include "frostline/data/lerobot/metadata.h"
#include "frostline/data/video/video.h"

namespace frostline::data {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kMegabyte = 1 << 20;
constexpr std::int64_t kEpisodesFileCap_bytes = 1 << 20;
constexpr const char* kScratchFolder = "recording.partial";

VideoEncoderOptions encoder_options(const WriterOptions& options, const Camera& camera) {
  return {.codec = camera.codec,
          .height_px = camera.height_px,
          .width_px = camera.width_px,
          .fps = options.fps,
          .crf = options.video_crf,
          .gop = options.video_gop,
          .preset = options.video_preset};
}

void require_codec(const WriterOptions& options, const Camera& camera) {
  if (is_video_codec(camera.codec)) {
    require_video_encoder(encoder_options(options, camera));
    return;
  }
  const bool is_compressed = camera.codec == "png" || camera.codec == "jpeg";
  FROSTLINE_REQUIRE(camera.codec == "raw" || (is_compressed && is_video_supported()),
                    ErrorCode::kUnsupported,
                    "codec of the camera cannot be written",
                    fmt::format("camera={} codec={} ; known: raw, and with FFmpeg av1, h264, png, "
                                "jpeg",
                                camera.name,
                                camera.codec));
}

void require_options(const WriterOptions& options) {
  FROSTLINE_REQUIRE(is_parquet_supported(),
                    ErrorCode::kUnsupported,
                    "this build cannot write Parquet",
                    "run scripts/setup.sh and build with -DFROSTLINE_WITH_ARROW=ON");
  FROSTLINE_REQUIRE(options.fps > 0,
                    ErrorCode::kUsage,
                    "fps is not positive",
                    fmt::format("fps={}", options.fps));
  std::set<std::string> names(std::begin(kAutomaticFeatures), std::end(kAutomaticFeatures));
  const auto require_new_name = [&](const std::string& name) {
    FROSTLINE_REQUIRE(
        names.insert(name).second && !name.empty() && name.find('/') == std::string::npos,
        ErrorCode::kUsage,
        "name of a feature is used twice or not allowed",
        fmt::format("feature='{}' ; a slash and the names timestamp, frame_index, "
                    "episode_index, index, task_index are not allowed",
                    name));
  };
  for (const Feature& feature : options.features) {
    require_new_name(feature.name);
    FROSTLINE_REQUIRE(
        feature.shape.size() == 1 && feature.shape[0] > 0,
        ErrorCode::kUnsupported,
        "feature is no vector",
        fmt::format(
            "feature={} shape={} ; write it flattened", feature.name, to_string(feature.shape)));
  }
  for (const Camera& camera : options.cameras) {
    require_new_name(camera.name);
    require_codec(options, camera);
  }
}

class LeRobotWriter final : public DatasetWriter {
 public:
  LeRobotWriter(fs::path root, const WriterOptions& options)
      : root_(std::move(root)),
        options_(options),
        data_(root_,
              LeRobotPaths().data,
              {{"huggingface", huggingface_metadata(options)}},
              kDataFileCap_mb * kMegabyte),
        episodes_(root_, kEpisodesPattern, {}, kEpisodesFileCap_bytes) {
    for (const Camera& camera : options_.cameras) {
      videos_.emplace_back(root_, camera.name, options_.fps, kVideoFileCap_mb * kMegabyte);
    }
    encoders_.resize(options_.cameras.size());
    if (fs::exists(root_ / kRecordingFile)) {
      resume();
    } else {
      start();
    }
    fs::remove_all(root_ / kScratchFolder);
    fs::create_directories(root_ / kScratchFolder);
  }

  std::int64_t num_episodes() const override { return num_episodes_; }

  void begin_episode(const std::string& task) override {
    require_open();
    FROSTLINE_REQUIRE(rows_ == nullptr,
                      ErrorCode::kUsage,
                      "an episode is still being recorded",
                      "call end_episode or discard_episode first");
    const auto known = std::ranges::find(tasks_, task);
    rows_ = std::make_unique<EpisodeRows>(
        options_, EpisodeStart{num_episodes_, num_frames_, known - tasks_.begin(), task});
    for (std::size_t i = 0; i < encoders_.size(); ++i) {
      const Camera& camera = options_.cameras[i];
      if (is_video_codec(camera.codec)) {
        encoders_[i] =
            std::make_unique<VideoEncoder>(scratch_video(i), encoder_options(options_, camera));
      }
    }
  }

  void add_frame(const FrameData& frame) override {
    require_episode();
    rows_->check(frame);
    for (std::size_t i = 0; i < encoders_.size(); ++i) {
      if (encoders_[i] != nullptr) {
        encoders_[i]->add(frame.images[i]);
      }
    }
    rows_->add(frame);
  }

  void end_episode() override {
    require_episode();
    FROSTLINE_REQUIRE(rows_->length() > 0,
                      ErrorCode::kUsage,
                      "episode has no frames",
                      fmt::format("episode={}", num_episodes_));
    const std::unique_ptr<EpisodeRows> rows = std::move(rows_);
    const std::int64_t length = rows->length();
    const EpisodeStart start = rows->start();
    NamedStatistics statistics = rows->statistics();
    EpisodePlaces places;
    places.videos = store_videos(length);
    const std::vector<std::int64_t> row_groups = rows->row_groups();
    std::vector<ColumnData> columns = rows->take();
    places.data = data_.place(num_bytes_of(columns));
    data_.append(std::move(columns), row_groups);
    if (start.task_index == std::ssize(tasks_)) {
      tasks_.push_back(start.task);
      write_tasks(root_, tasks_);
    }
    // This row makes the episode part of the data set; a kill before it leaves only rows and
    // pictures that nothing refers to, and a resumed recording removes them.
    places.episodes =
        episodes_.place(num_bytes_of(episode_row(options_, start, length, places, statistics)));
    episodes_.append(episode_row(options_, start, length, places, statistics), {1});
    statistics_.push_back(std::move(statistics));
    ++num_episodes_;
    num_frames_ += length;
    write_totals();
  }

  void discard_episode() override {
    require_episode();
    rows_.reset();
    for (std::size_t i = 0; i < encoders_.size(); ++i) {
      encoders_[i].reset();
      fs::remove(scratch_video(i));
    }
  }

  void finish() override {
    require_open();
    FROSTLINE_REQUIRE(rows_ == nullptr,
                      ErrorCode::kUsage,
                      "an episode is still being recorded",
                      "call end_episode or discard_episode first");
    FROSTLINE_REQUIRE(num_episodes_ > 0,
                      ErrorCode::kUsage,
                      "nothing was recorded",
                      fmt::format("path={} episodes=0", root_.string()));
    write_totals();
    fs::remove_all(root_ / kScratchFolder);
    fs::remove(root_ / kRecordingFile);
    is_finished_ = true;
  }

 private:
  void require_open() const {
    FROSTLINE_REQUIRE(!is_finished_,
                      ErrorCode::kUsage,
                      "recording is already finished",
                      fmt::format("path={}", root_.string()));
  }

  void require_episode() const {
    require_open();
    FROSTLINE_REQUIRE(
        rows_ != nullptr, ErrorCode::kUsage, "no episode was begun", "call begin_episode first");
  }

  fs::path scratch_video(std::size_t camera) const {
    return root_ / kScratchFolder / fmt::format("camera-{}.mp4", camera);
  }

  void start() {
    FROSTLINE_REQUIRE(!fs::exists(root_ / kInfoFile),
                      ErrorCode::kData,
                      "folder already holds a finished data set",
                      fmt::format("path={} ; record into another folder", root_.string()));
    FROSTLINE_REQUIRE(!fs::exists(root_) || fs::is_empty(root_),
                      ErrorCode::kIo,
                      "folder is not empty",
                      fmt::format("path={} ; record into a new folder", root_.string()));
    write_json(root_ / kRecordingFile, recording_json(options_));
    write_info(root_, options_, {});
  }

  void resume() {
    FROSTLINE_REQUIRE(read_json(root_ / kRecordingFile) == recording_json(options_),
                      ErrorCode::kData,
                      "unfinished recording has other features, cameras or video options",
                      fmt::format("file={} ; use the same options, or record into another folder",
                                  (root_ / kRecordingFile).string()));
    LeRobotContent content;
    Findings findings;
    if (!fs::exists(root_ / kInfoFile)) {
      write_info(root_, options_, {});
    }
    load_content(root_, content, findings);
    const auto error = std::ranges::find_if(findings, [](const Finding& finding) {
      return finding.severity == Severity::kError && finding.code != "no_episodes";
    });
    if (error != findings.end()) {
      throw Error(ErrorCode::kData,
                  "unfinished recording is damaged",
                  fmt::format("{} ; file={} ; {}", error->message, error->file, error->remedy));
    }
    remove_partial_files();
    if (content.episodes.empty()) {
      for (const char* folder : {"data", "videos"}) {
        fs::remove_all(root_ / folder);
      }
      return;
    }
    num_episodes_ = std::ssize(content.episodes);
    num_frames_ = content.episodes.back().range.end;
    tasks_ = content.meta.info.tasks;
    for (const std::string& file : content.episode_files) {
      for (NamedStatistics& episode : read_episode_statistics(options_, root_ / file)) {
        statistics_.push_back(std::move(episode));
      }
    }
    episodes_.start_at(std::ssize(content.episode_files));
    resume_data(content);
    resume_videos(content);
    log_info(
        "recording goes on after {} finished episodes: path={}", num_episodes_, root_.string());
  }

  /// Drops rows of an episode that did not become part of the data set.
  void resume_data(const LeRobotContent& content) {
    std::set<std::string> files;
    std::int64_t num_rows = 0;
    const std::string last = content.episodes.back().data_file;
    for (const Episode& episode : content.episodes) {
      files.insert(episode.data_file);
      num_rows += episode.data_file == last ? episode.range.length() : 0;
    }
    remove_others(root_ / "data", files);
    const ParquetFile file(root_ / last);
    std::vector<ColumnData> columns = empty_data_columns(options_);
    for (ColumnData& column : columns) {
      if (column.layout == ColumnLayout::kImage) {
        for (int group = 0; group < file.num_row_groups(); ++group) {
          std::ranges::move(file.read_images(column.name, group), std::back_inserter(column.texts));
        }
        column.texts.resize(static_cast<std::size_t>(num_rows));
      } else {
        column.numbers = file.read_numbers(column.name).values;
        column.numbers.resize(static_cast<std::size_t>(num_rows * column.width));
      }
    }
    std::vector<std::int64_t> row_groups;
    for (std::int64_t begin = 0, group = 0; begin < num_rows; ++group) {
      const std::int64_t length =
          std::min(file.row_group_length(static_cast<int>(group)), num_rows - begin);
      row_groups.push_back(length);
      begin += length;
    }
    data_.start_with(std::ssize(files) - 1, std::move(columns), std::move(row_groups));
  }

  /// The next episode begins new video files: the last ones may hold pictures without an episode.
  void resume_videos(const LeRobotContent& content) {
    std::set<std::string> all;
    for (std::size_t camera = 0; camera < options_.cameras.size(); ++camera) {
      std::set<std::string> files;
      for (const Episode& episode : content.episodes) {
        files.insert(episode.videos[camera].file);
      }
      videos_[camera].start_at(std::ssize(files));
      all.merge(files);
    }
    remove_others(root_ / "videos", all);
  }

  void remove_others(const fs::path& folder, const std::set<std::string>& files) const {
    std::vector<fs::path> others;
    if (fs::is_directory(folder)) {
      for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file() &&
            !files.contains(fs::relative(entry.path(), root_).string())) {
          others.push_back(entry.path());
        }
      }
    }
    for (const fs::path& other : others) {
      fs::remove(other);
    }
  }

  /// What a killed writer had begun to write beside its files.
  void remove_partial_files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(root_ / "meta")) {
      if (entry.is_regular_file() && entry.path().extension() == ".partial") {
        files.push_back(entry.path());
      }
    }
    for (const fs::path& file : files) {
      fs::remove(file);
    }
  }

  std::vector<VideoPlace> store_videos(std::int64_t length) {
    std::vector<VideoPlace> places(encoders_.size());
    for (std::size_t i = 0; i < encoders_.size(); ++i) {
      if (encoders_[i] != nullptr) {
        encoders_[i]->finish();
        encoders_[i].reset();
        places[i] = videos_[i].append(scratch_video(i), length);
      }
    }
    return places;
  }

  void write_totals() const {
    Json document = Json::object();
    for (std::size_t i = 0; i < statistics_.front().size(); ++i) {
      std::vector<const FeatureStatistics*> parts;
      for (const NamedStatistics& episode : statistics_) {
        parts.push_back(&episode[i].second);
      }
      const std::string& name = statistics_.front()[i].first;
      const bool is_image =
          std::ranges::find(options_.cameras, name, &Camera::name) != options_.cameras.end();
      document[name] = to_json(aggregate(parts), is_image);
    }
    write_json(root_ / kStatisticsFile, document);
    write_info(root_, options_, {num_episodes_, num_frames_, std::ssize(tasks_)});
  }

  fs::path root_;
  WriterOptions options_;
  GrowingParquet data_;
  GrowingParquet episodes_;
  std::vector<GrowingVideo> videos_;
  std::vector<std::unique_ptr<VideoEncoder>> encoders_;  ///< Null for images in Parquet.
  std::unique_ptr<EpisodeRows> rows_;
  std::vector<std::string> tasks_;
  std::vector<NamedStatistics> statistics_;
  std::int64_t num_episodes_ = 0;
  std::int64_t num_frames_ = 0;
  bool is_finished_ = false;
};

}  // namespace

std::unique_ptr<DatasetWriter> create_lerobot_writer(const fs::path& root,
                                                     const WriterOptions& options) {
  require_options(options);
  return std::make_unique<LeRobotWriter>(fs::absolute(root).lexically_normal(), options);
}

}  // namespace frostline::data
