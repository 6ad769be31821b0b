#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "frostline/cli/verb.h"
#include "frostline/core/error.h"
#include "frostline/data/dataset.h"
#include "frostline/data/describe.h"
#include "frostline/eval/record.h"

namespace frostline::cli {

namespace {

struct ReadOptions {
  CommonOptions common;
  std::filesystem::path path;
  bool is_strict = false;
};

struct RecordVerbOptions {
  CommonOptions common;
  std::string task = "aloha_transfer_cube";
  eval::RecordOptions record;
};

void run_inspect(const ReadOptions& options) {
  const auto dataset = data::open_dataset(options.path);
  const Json info = data::describe(*dataset);
  if (options.common.is_json) {
    print_json(info);
    return;
  }
  for (const auto& [key, value] : info.items()) {
    fmt::print("{:<16} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

void run_verify(const ReadOptions& options) {
  const auto findings = data::verify_dataset(options.path);
  const auto num_errors =
      std::count_if(findings.begin(), findings.end(), [&](const data::Finding& finding) {
        return options.is_strict || finding.severity == data::Severity::kError;
      });
  if (options.common.is_json) {
    print_json(data::describe(findings));
  } else {
    for (const auto& finding : findings) {
      fmt::print("{}: {} {}{}{} ; {}\n",
                 finding.severity == data::Severity::kError ? "error" : "warning",
                 finding.message,
                 finding.file,
                 finding.episode ? fmt::format(" episode {}", *finding.episode) : "",
                 finding.frame ? fmt::format(" frame {}", *finding.frame) : "",
                 finding.remedy);
    }
    fmt::print("{} findings, {} errors\n", findings.size(), num_errors);
  }
  FROSTLINE_REQUIRE(num_errors == 0,
                    ErrorCode::kData,
                    "the data set has errors",
                    fmt::format("path={} errors={}", options.path.string(), num_errors));
}

void run_record(const RecordVerbOptions& options) {
  eval::RecordOptions record = options.record;
  record.first_seed = options.common.seed;
  const auto report = eval::record(options.task, record, output_folder(options.common, "data"));
  if (options.common.is_json) {
    print_json({{"dataset", std::filesystem::absolute(report.dataset).string()},
                {"episodes", report.num_episodes},
                {"frames", report.num_frames},
                {"resumed", report.num_resumed},
                {"failed_seeds", report.manifest.failed_seeds},
                {"passed_over", report.manifest.num_passed_over},
                {"renderer", report.manifest.renderer_version},
                {"duration_s", report.duration_s}});
    return;
  }
  fmt::print("{} episodes, {} frames in {:.1f} s ({} were there), {} seeds failed\n{}\n",
             report.num_episodes,
             report.num_frames,
             report.duration_s,
             report.num_resumed,
             report.manifest.failed_seeds.size(),
             report.dataset.string());
}

void add_read_verbs(CLI::App& data) {
  auto inspect_options = std::make_shared<ReadOptions>();
  auto* inspect = data.add_subcommand("inspect", "Says what a data set holds");
  add_common_options(*inspect, inspect_options->common);
  inspect->add_option("path", inspect_options->path, "Data set folder")->required();
  inspect->callback([inspect_options] { run_inspect(*inspect_options); });

  auto verify_options = std::make_shared<ReadOptions>();
  auto* verify = data.add_subcommand("verify", "Lists everything that is wrong with a data set");
  add_common_options(*verify, verify_options->common);
  verify->add_option("path", verify_options->path, "Data set folder")->required();
  verify->add_flag("--strict", verify_options->is_strict, "Warnings count as errors");
  verify->callback([verify_options] { run_verify(*verify_options); });
}

void add_record_verb(CLI::App& data) {
  auto options = std::make_shared<RecordVerbOptions>();
  auto* verb = data.add_subcommand("record", "Records demonstrations of a scripted expert");
  options->common.seed = options->record.first_seed;
  add_common_options(*verb, options->common);
  auto& record = options->record;
  verb->add_option("--task", options->task, "Task id")->capture_default_str();
  verb->add_option("--episodes", record.num_episodes, "Successful demonstrations to keep")
      ->capture_default_str();
  verb->add_option("--camera", record.cameras, "Cameras of the task")->capture_default_str();
  verb->add_option("--height", record.height_px, "Image height in pixels")->capture_default_str();
  verb->add_option("--width", record.width_px, "Image width in pixels")->capture_default_str();
  verb->add_flag("--shadows", record.has_shadows, "Draw shadows and reflections");
  verb->add_option("--strata",
                   record.strata,
                   "Spread start positions evenly over an n x n grid; 0 = as the seeds fall")
      ->capture_default_str();
  verb->add_option("--noise-m", record.noise_m, "Disturbance of the expert in metres")
      ->capture_default_str();
  verb->add_option("--codec", record.codec, "av1 (needs FFmpeg), png or raw")
      ->capture_default_str();
  verb->add_option("--crf", record.video_crf, "Rate factor of AV1; higher is smaller")
      ->capture_default_str();
  verb->add_option("--gop", record.video_gop, "Distance of key frames")->capture_default_str();
  verb->add_option("--preset", record.video_preset, "Speed of SVT-AV1")->capture_default_str();
  verb->add_option("--workers", record.num_workers, "Renderer threads; 0 = one a core")
      ->capture_default_str();
  verb->callback([options] { run_record(*options); });
}

}  // namespace

void add_data(CLI::App& root) {
  auto* data = root.add_subcommand("data", "Data sets: look into, check, record");
  data->require_subcommand(1);
  add_read_verbs(*data);
  add_record_verb(*data);
}

}  // namespace frostline::cli
