#include "tests/support/tiny_training.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "frostline/accel/openvino/openvino_backend.h"
#include "frostline/core/file.h"
#include "frostline/data/lerobot/episode_rows.h"
#include "frostline/policy/checkpoint.h"
#include "frostline/power/unmeasured_meter.h"
#include "frostline/quantise/quantise.h"
#include "frostline/split/encoder_graph.h"
#include "tests/data/recording.h"
#include "tests/policy/tiny_policy.h"

namespace frostline::test {

namespace fs = std::filesystem;

namespace {

data::WriterOptions plain_options() {
  const auto spec = tiny_spec();
  auto options = data::small_options("raw");
  options.features = {{"observation.state", DType::kF32, {spec.state_dim}},
                      {"action", DType::kF32, {spec.action_dim}}};
  return options;
}

void record_all(const fs::path& folder, const data::WriterOptions& options) {
  data::record(folder / "dataset", options, {12, 9, 15});
  const TinyPolicy policy;
  policy::write_encoder(folder / "encoder.safetensors", policy.spec, policy.encoder);
}

}  // namespace

TinyTraining::TinyTraining(const std::function<void(data::WriterOptions&)>& change)
    : recorded_(plain_options()) {
  if (change) {
    change(recorded_);
    record_all(folder(), recorded_);
    return;
  }
  // Recording makes every file durable, which takes longer than most tests.
  static const auto kPlain = [this] {
    auto made = std::make_unique<TempFolder>();
    record_all(made->path(), recorded_);
    return made;
  }();
  fs::copy(kPlain->path(), folder(), fs::copy_options::recursive);
}

train::TrainOptions TinyTraining::options(const std::string& run, train::Source source) const {
  train::TrainOptions options;
  options.loop.dataset = dataset();
  options.loop.steps = 6;
  options.loop.batch_size = 2;
  options.loop.learning_rate = 1e-3;
  options.loop.warmup_steps = 1;
  options.loop.ema_decay = 0.9;
  options.loop.seed = 5;
  options.loop.save_every = 2;
  options.loop.log_every = 1;
  options.loop.num_threads = 1;
  options.loop.image_cache_mb = 16;
  options.loop.out = folder() / run;
  options.encoder = encoder();
  options.source = source;
  options.cache_dir = folder() / "cache";
  return options;
}

accel::Artefact TinyTraining::artefact(const std::string& precision) const {
  const TinyPolicy policy;
  const graph::Graph graph = split::encoder_graph(policy.spec, policy.encoder.to_host(), 4, 2);
  if (precision == "fp32") {
    return quantise::float_artefact(graph, precision);
  }
  const auto products = quantise::quantisable_nodes(graph);
  quantise::CodeSchemes schemes;
  accel::OutputCodes codes;
  for (const TensorSpec& output : graph.outputs) {
    // Codes of a step of 0.05 reach 6.4, which normalised activations do not exceed by much.
    schemes.emplace(output.name, quantise::CodeScheme{DType::kI8, 0.05F});
    codes.scales.push_back(0.05F);
    codes.zero_points.push_back(0);
  }
  return accel::make_artefact(
      quantise::insert_codes(graph, schemes, {products.begin(), products.end()}), precision, codes);
}

void TinyTraining::poison_action(std::int64_t dataset_row) const {
  const fs::path path = dataset() / "data/chunk-000/file-000.parquet";
  std::vector<data::ColumnData> columns = data::empty_data_columns(recorded_);
  data::ParquetOptions layout;
  {
    const data::ParquetFile file(path);
    layout.metadata["huggingface"] = file.metadata("huggingface");
    for (int group = 0; group < file.num_row_groups(); ++group) {
      layout.row_groups.push_back(file.row_group_length(group));
    }
    for (auto& column : columns) {
      if (column.layout != data::ColumnLayout::kImage) {
        column.numbers = file.read_numbers(column.name).values;
        continue;
      }
      for (int group = 0; group < file.num_row_groups(); ++group) {
        for (auto& image : file.read_images(column.name, group)) {
          column.texts.push_back(std::move(image));
        }
      }
    }
  }
  const auto action = std::ranges::find(columns, "action", &data::ColumnData::name);
  action->numbers.at(static_cast<std::size_t>(dataset_row * action->width)) =
      std::numeric_limits<double>::quiet_NaN();
  data::write_parquet(path, columns, layout);
}

std::string openvino_missing() {
  const auto devices = accel::make_openvino_backend()->devices();
  const bool is_usable = std::ranges::any_of(devices, [](const accel::DeviceInfo& info) {
    return info.device == "CPU" && info.is_usable;
  });
  return is_usable ? "" : devices.front().reason;
}

power::MeterSet no_meters() {
  std::vector<std::unique_ptr<power::PowerMeter>> meters;
  meters.push_back(std::make_unique<power::UnmeasuredMeter>(
      "cpu:package", "CPU package", "no counter in this test"));
  return power::MeterSet(std::move(meters));
}

std::map<std::string, std::string> folder_content(const fs::path& folder) {
  std::map<std::string, std::string> content;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      content[fs::relative(entry.path(), folder).string()] = read_file(entry.path());
    }
  }
  return content;
}

std::map<std::string, std::string> last_checkpoint(const fs::path& run) {
  return folder_content(fs::canonical(run / "checkpoints/last"));
}

}  // namespace frostline::test
