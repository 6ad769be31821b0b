#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "frostline/data/dataset_writer.h"
#include "frostline/eval/record_manifest.h"
#include "frostline/sim/environment.h"

namespace frostline::eval {

struct RecordOptions {
  std::int64_t num_episodes = 50;
  std::uint64_t first_seed = 100000;
  std::vector<std::string> cameras = {"top"};  ///< Stored as `observation.images.<name>`.
  int height_px = 480;
  int width_px = 640;
  bool has_shadows = false;
  int num_samples = 0;   ///< Multisampling, as `sim::RenderOptions`.
  double noise_m = 0.0;  ///< As `sim::ExpertOptions`.
  /// g > 0: a seed is taken only while its cell of a g x g grid over the start positions holds
  /// fewer than ceil(num_episodes / g^2) episodes.
  int strata = 0;
  std::string codec = "av1";
  int video_crf = 30;
  int video_gop = 2;
  int video_preset = 8;
  int num_workers = 0;  ///< 0: one renderer thread for each core.
  /// Longest time that drawing one stretch of frames may take.
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
};

/// What a recording did, episodes of an earlier, stopped call included.
struct RecordReport {
  std::filesystem::path dataset;
  std::int64_t num_episodes = 0;
  std::int64_t num_frames = 0;
  std::int64_t num_resumed = 0;  ///< Episodes that were there already.
  RecordManifest manifest;
  double duration_s = 0;
};

/// Parts of a recording, so that tests can replace them. The functions for environments and
/// renderers are called on worker threads.
struct RecordParts {
  std::function<std::unique_ptr<sim::Environment>()> create_environment;
  std::function<std::unique_ptr<sim::Expert>()> create_expert;
  std::function<std::unique_ptr<sim::Renderer>(const std::string& camera)> create_renderer;
  std::function<std::unique_ptr<data::DatasetWriter>(const std::filesystem::path&,
                                                     const data::WriterOptions&)>
      create_writer;
};

/// Records successes of the task's scripted expert as a LeRobot v3.0 data set in `out`, after
/// checking that the expert works here. A recording that was stopped goes on after its last
/// finished episode and ends with the same content as an unstopped one. SIGINT drops the episode in
/// progress. Shape: `observation.state` and `action` [task's dimensions] fp32, images uint8 RGB.
/// Errors: those of `sim::check_expert`, the renderer and the writer; `kData` when `out` holds
/// something else or the expert fails too often; `kInterrupted`.
RecordReport record(const std::string& task_id,
                    const RecordOptions& options,
                    const std::filesystem::path& out);

/// As above with other parts and without the check of the expert.
RecordReport record(const RecordParts& parts,
                    const RecordOptions& options,
                    const std::filesystem::path& out);

}  // namespace frostline::eval
