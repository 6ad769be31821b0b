#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "frostline/accel/artefact.h"
#include "frostline/data/dataset_writer.h"
#include "frostline/power/meter.h"
#include "frostline/train/options.h"
#include "tests/support/temp_folder.h"

namespace frostline::test {

/// A recorded data set of three episodes and a random encoder of `tiny_spec`: what a training of a
/// second needs.
class TinyTraining {
 public:
  /// `change` alters what is recorded.
  explicit TinyTraining(const std::function<void(data::WriterOptions&)>& change = {});

  const std::filesystem::path& folder() const { return folder_.path(); }

  std::filesystem::path dataset() const { return folder() / "dataset"; }

  std::filesystem::path encoder() const { return folder() / "encoder.safetensors"; }

  /// Six steps of batch 2 on one thread, a checkpoint every second step, into `folder()/run`.
  train::TrainOptions options(const std::string& run,
                              train::Source source = train::Source::kInline) const;

  /// The encoder at L4 for batch 2: `fp32`, or `int8` codes of a floating-point network.
  accel::Artefact artefact(const std::string& precision = "fp32") const;

  /// Writes NaN into the actions of one frame of the recorded data.
  void poison_action(std::int64_t dataset_row) const;

 private:
  TempFolder folder_;
  data::WriterOptions recorded_;
};

/// Why OpenVINO's CPU device cannot be used here; empty when it can.
std::string openvino_missing();

/// One meter without a counter.
power::MeterSet no_meters();

/// Content of every file below `folder`, by relative path.
std::map<std::string, std::string> folder_content(const std::filesystem::path& folder);

/// Content of the newest checkpoint of a run.
std::map<std::string, std::string> last_checkpoint(const std::filesystem::path& run);

}  // namespace frostline::test
