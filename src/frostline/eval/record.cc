#include "frostline/eval/record.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "frostline/core/bounded_queue.h"
#include "frostline/core/clock.h"
#include "frostline/core/error.h"
#include "frostline/core/log.h"
#include "frostline/core/progress.h"
#include "frostline/core/shutdown.h"
#include "frostline/eval/demonstration.h"
#include "frostline/eval/frame_painter.h"
#include "frostline/sim/expert_check.h"

namespace frostline::eval {
namespace {

/// Looks for the next demonstration while the one before is drawn and stored.
class DemonstrationAhead {
 public:
  explicit DemonstrationAhead(DemonstrationSource source)
      : source_(std::move(source)), thread_([this] { work(); }) {}

  DemonstrationAhead(const DemonstrationAhead&) = delete;
  DemonstrationAhead& operator=(const DemonstrationAhead&) = delete;
  DemonstrationAhead(DemonstrationAhead&&) = delete;
  DemonstrationAhead& operator=(DemonstrationAhead&&) = delete;

  ~DemonstrationAhead() { queue_.close(); }

  std::optional<Demonstration> next() { return queue_.pop(); }

 private:
  void work() {
    try {
      while (auto demonstration = source_.next()) {
        if (!queue_.push(std::move(*demonstration))) {
          return;
        }
      }
      queue_.close();
    } catch (...) {
      queue_.fail(std::current_exception());
    }
  }

  DemonstrationSource source_;
  BoundedQueue<Demonstration> queue_{1};
  std::jthread thread_;  ///< Last: it uses the others.
};

Json options_json(const sim::TaskInfo& task, const RecordOptions& options) {
  return {{"task", task.id},
          {"num_episodes", options.num_episodes},
          {"first_seed", options.first_seed},
          {"strata", options.strata},
          {"noise_m", options.noise_m},
          {"cameras", options.cameras},
          {"height_px", options.height_px},
          {"width_px", options.width_px},
          {"has_shadows", options.has_shadows},
          {"num_samples", options.num_samples},
          {"codec", options.codec},
          {"video_crf", options.video_crf},
          {"video_gop", options.video_gop},
          {"video_preset", options.video_preset}};
}

data::WriterOptions writer_options(const sim::TaskInfo& task, const RecordOptions& options) {
  data::WriterOptions result;
  result.robot_type = "aloha";
  result.fps = task.control_hz;
  for (const std::string& camera : options.cameras) {
    result.cameras.push_back({.name = "observation.images." + camera,
                              .height_px = options.height_px,
                              .width_px = options.width_px,
                              .codec = options.codec});
  }
  result.features = {{"observation.state", DType::kF32, {task.state_dim}},
                     {"action", DType::kF32, {task.action_dim}}};
  result.video_crf = options.video_crf;
  result.video_gop = options.video_gop;
  result.video_preset = options.video_preset;
  return result;
}

void check(const RecordOptions& options) {
  FROSTLINE_REQUIRE(options.num_episodes > 0,
                    ErrorCode::kUsage,
                    "at least one episode has to be recorded",
                    fmt::format("episodes={}", options.num_episodes));
  FROSTLINE_REQUIRE(!options.cameras.empty(),
                    ErrorCode::kUsage,
                    "at least one camera has to be recorded",
                    "cameras=none");
  FROSTLINE_REQUIRE(options.strata >= 0 && options.noise_m >= 0,
                    ErrorCode::kUsage,
                    "strata and noise cannot be negative",
                    fmt::format("strata={} noise_m={}", options.strata, options.noise_m));
}

/// Draws and stores one demonstration at a time.
class Recorder {
 public:
  Recorder(FramePainter& painter,
           data::DatasetWriter& writer,
           const RecordOptions& options,
           std::string instruction)
      : painter_(painter),
        writer_(writer),
        num_cameras_(options.cameras.size()),
        image_bytes_(static_cast<std::size_t>(options.height_px) *
                     static_cast<std::size_t>(options.width_px) * 3),
        instruction_(std::move(instruction)) {}

  /// `before_end` runs when all frames are stored and the episode is about to count.
  void store(const Demonstration& demonstration, const std::function<void()>& before_end) {
    writer_.begin_episode(instruction_);
    try {
      store_frames(demonstration);
      before_end();
    } catch (...) {
      discard();
      throw;
    }
    writer_.end_episode();
  }

 private:
  void store_frames(const Demonstration& demonstration) {
    // Long enough that workers seldom wait for each other, short enough for 100 MB at 480 x 640.
    const std::size_t stretch = 16 * static_cast<std::size_t>(painter_.num_workers());
    const std::size_t num_frames = demonstration.states.size();
    start(demonstration, 0, std::min(stretch, num_frames));
    for (std::size_t begin = 0; begin < num_frames; begin += stretch) {
      const std::size_t end = std::min(begin + stretch, num_frames);
      const std::vector<std::uint8_t> images = painter_.wait();
      if (end < num_frames) {
        start(demonstration, end, std::min(end + stretch, num_frames));
      }
      for (std::size_t frame = begin; frame < end; ++frame) {
        throw_if_shutdown_requested();
        add(demonstration,
            frame,
            std::span(images).subspan((frame - begin) * num_cameras_ * image_bytes_,
                                      num_cameras_ * image_bytes_));
      }
    }
  }

  void start(const Demonstration& demonstration, std::size_t begin, std::size_t end) {
    const auto first = demonstration.snapshots.begin();
    painter_.start(
        {first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end)});
  }

  void add(const Demonstration& demonstration,
           std::size_t frame,
           std::span<const std::uint8_t> images) {
    data::FrameData data;
    data.features = {demonstration.states[frame], demonstration.actions[frame]};
    for (std::size_t camera = 0; camera < num_cameras_; ++camera) {
      data.images.push_back(images.subspan(camera * image_bytes_, image_bytes_));
    }
    writer_.add_frame(data);
  }

  void discard() noexcept {
    try {
      writer_.discard_episode();
    } catch (const std::exception& error) {
      log_warning("the episode in progress could not be dropped: {}", error.what());
    }
  }

  FramePainter& painter_;
  data::DatasetWriter& writer_;
  std::size_t num_cameras_;
  std::size_t image_bytes_;
  std::string instruction_;
};

}  // namespace

RecordReport record(const RecordParts& parts,
                    const RecordOptions& options,
                    const std::filesystem::path& out) {
  check(options);
  const std::int64_t started_ns = Clock::steady().now_ns();
  auto environment = parts.create_environment();
  const sim::TaskInfo& task = environment->task();
  FramePainter painter({.create_environment = parts.create_environment,
                        .create_renderer = parts.create_renderer,
                        .cameras = options.cameras,
                        .image_bytes = static_cast<std::size_t>(options.height_px) *
                                       static_cast<std::size_t>(options.width_px) * 3},
                       options.num_workers,
                       options.timeout);
  RecordReport report;
  report.dataset = std::filesystem::absolute(out);
  RecordManifest& manifest = report.manifest;
  manifest.options = options_json(task, options);
  manifest.renderer_version = painter.renderer_version();
  if (auto found = read_manifest(out)) {
    require_same_recording(out, *found, manifest);
    manifest = std::move(*found);
  }
  if (manifest.is_finished) {
    report.num_resumed = static_cast<std::int64_t>(manifest.episodes.size());
    report.num_episodes = report.num_resumed;
    log_info("the recording is complete already: folder={} episodes={}",
             out.string(),
             report.num_episodes);
    return report;
  }
  const auto writer = parts.create_writer(out, writer_options(task, options));
  report.num_resumed = writer->num_episodes();
  report.num_episodes = report.num_resumed;
  cut_to_stored(out, report.num_resumed, manifest);
  const std::string instruction = task.instruction;
  Recorder recorder(painter, *writer, options, instruction);
  DemonstrationAhead ahead(DemonstrationSource(std::move(environment),
                                               parts.create_expert(),
                                               {.num_episodes = options.num_episodes,
                                                .first_seed = options.first_seed,
                                                .strata = options.strata},
                                               manifest.episodes));
  Progress progress("recording", options.num_episodes, "episodes");
  while (const auto demonstration = ahead.next()) {
    manifest.num_passed_over = demonstration->episode.num_passed_over;
    manifest.failed_seeds.insert(manifest.failed_seeds.end(),
                                 demonstration->failed_seeds.begin(),
                                 demonstration->failed_seeds.end());
    recorder.store(*demonstration, [&] {
      manifest.episodes.push_back(demonstration->episode);
      write_manifest(out, manifest);
    });
    ++report.num_episodes;
    report.num_frames += static_cast<std::int64_t>(demonstration->states.size());
    progress.update(report.num_episodes, fmt::format("failed {}", manifest.failed_seeds.size()));
  }
  writer->finish();
  manifest.is_finished = true;
  write_manifest(out, manifest);
  report.duration_s = seconds(Clock::steady().now_ns() - started_ns);
  return report;
}

RecordReport record(const std::string& task_id,
                    const RecordOptions& options,
                    const std::filesystem::path& out) {
  sim::check_expert(task_id);
  const RecordParts parts = {
      .create_environment = [task_id] { return sim::create_environment(task_id); },
      .create_expert =
          [task_id, noise_m = options.noise_m] {
            return sim::create_expert(task_id, {.noise_m = noise_m});
          },
      .create_renderer =
          [task_id, options](const std::string& camera) {
            return sim::create_renderer(task_id,
                                        {.camera = camera,
                                         .height_px = options.height_px,
                                         .width_px = options.width_px,
                                         .has_shadows = options.has_shadows,
                                         .num_samples = options.num_samples});
          },
      .create_writer = data::create_lerobot_writer,
  };
  return record(parts, options, out);
}

}  // namespace frostline::eval
