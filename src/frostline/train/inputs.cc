#include "frostline/train/inputs.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <unistd.h>

#include <ATen/ops/empty.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frostline/core/error.h"
#include "frostline/core/log.h"
#include "frostline/data/window.h"

namespace frostline::train {

namespace {

constexpr const char* kState = "observation.state";
constexpr const char* kAction = "action";

void require_camera(const data::DatasetInfo& info, const policy::ArActorSpec& spec) {
  std::vector<std::string> known;
  for (const auto& camera : info.cameras) {
    if (camera.name == spec.camera) {
      FROSTLINE_REQUIRE(
          camera.height_px == spec.image_height_px && camera.width_px == spec.image_width_px,
          ErrorCode::kConfig,
          "the policy needs images of another size",
          fmt::format("camera={} data set={}x{} policy={}x{} ; record in that size, or pretrain "
                      "an encoder for this one",
                      camera.name,
                      camera.height_px,
                      camera.width_px,
                      spec.image_height_px,
                      spec.image_width_px));
      return;
    }
    known.push_back(camera.name);
  }
  throw Error(ErrorCode::kConfig,
              "the data set lacks a camera that the policy needs",
              fmt::format("camera={} data set {} has: {}",
                          spec.camera,
                          info.root.string(),
                          fmt::join(known, ", ")));
}

void require_feature(const data::DatasetInfo& info, const char* name, std::int64_t dim) {
  std::vector<std::string> known;
  for (const auto& feature : info.features) {
    if (feature.name == name) {
      FROSTLINE_REQUIRE(
          num_elements(feature.shape) == dim,
          ErrorCode::kConfig,
          "the policy needs a feature of another size",
          fmt::format(
              "feature={} data set={} policy={}", name, frostline::to_string(feature.shape), dim));
      return;
    }
    known.push_back(feature.name);
  }
  throw Error(
      ErrorCode::kConfig,
      "the data set lacks a feature that the policy needs",
      fmt::format(
          "feature={} data set {} has: {}", name, info.root.string(), fmt::join(known, ", ")));
}

policy::Normaliser normaliser_of(const data::Dataset& dataset, const char* feature) {
  const auto& statistics = dataset.statistics(feature);
  policy::Normaliser normaliser({statistics.mean.begin(), statistics.mean.end()},
                                {statistics.std.begin(), statistics.std.end()});
  if (!normaliser.raised().empty()) {
    log_info("{}: standard deviation raised to {} in dimension {}",
             feature,
             policy::Normaliser::kSmallestStd,
             fmt::join(normaliser.raised(), ", "));
  }
  return normaliser;
}

std::size_t cache_bytes(const LoopOptions& options) {
  if (options.image_cache_mb > 0) {
    return static_cast<std::size_t>(options.image_cache_mb) << 20;
  }
  return static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 4;
}

std::span<std::uint8_t> bytes_of(const at::Tensor& mask) {
  return {static_cast<std::uint8_t*>(mask.data_ptr()), static_cast<std::size_t>(mask.numel())};
}

std::span<float> floats_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

Inputs::Inputs(const LoopOptions& options, const policy::ArActorSpec& spec)
    : options_(options), spec_(spec), dataset_(data::open_dataset(options.dataset)) {
  require_camera(dataset_->info(), spec);
  require_feature(dataset_->info(), kState, spec.state_dim);
  require_feature(dataset_->info(), kAction, spec.action_dim);
  episodes_ = options.episodes;
  if (episodes_.empty()) {
    episodes_.assign(dataset_->episodes().begin(), dataset_->episodes().end());
  }
  sampler_ = std::make_unique<data::Sampler>(*dataset_, episodes_, options.stride, options.seed);
  images_ = std::make_unique<data::ImageCache>(*dataset_, cache_bytes(options));
  state_ = normaliser_of(*dataset_, kState);
  action_ = normaliser_of(*dataset_, kAction);
}

Inputs::~Inputs() = default;

pipeline::BatchPlan Inputs::plan() const {
  return {sampler_.get(),
          options_.batch_size,
          spec_.image_height_px,
          spec_.image_width_px,
          [this](data::FrameId frame, std::span<std::uint8_t> out) {
            images_->read(spec_.camera, frame, out);
          }};
}

std::vector<data::FrameId> Inputs::frames(std::int64_t step) const {
  std::vector<data::FrameId> ids;
  for (const auto index : sampler_->batch(step, options_.batch_size)) {
    ids.push_back(sampler_->anchors()[static_cast<std::size_t>(index)]);
  }
  return ids;
}

policy::ExpertBatch Inputs::batch(std::int64_t step, at::Device device) const {
  const std::int64_t size = options_.batch_size;
  const data::WindowSpec window = {spec_.history, spec_.chunk};
  policy::ExpertBatch batch;
  batch.states = at::empty({size, window.num_states(), spec_.state_dim}, at::kFloat);
  batch.valid = at::empty({size, window.num_states()}, at::kBool);
  batch.actions = at::empty({size, spec_.chunk, spec_.action_dim}, at::kFloat);
  batch.action_is_pad = at::empty({size, spec_.chunk}, at::kBool);
  const data::WindowColumns columns = {dataset_->column(kState), dataset_->column(kAction)};
  std::int64_t row = 0;
  for (const data::FrameId id : frames(step)) {
    data::read_window(columns,
                      dataset_->frame_range(id.episode_index),
                      id.frame_index,
                      window,
                      {floats_of(batch.states[row]),
                       bytes_of(batch.valid[row]),
                       floats_of(batch.actions[row]),
                       bytes_of(batch.action_is_pad[row])});
    ++row;
  }
  state_.normalise(floats_of(batch.states));
  action_.normalise(floats_of(batch.actions));
  batch.history_drop =
      policy::draw_history_drop(spec_, options_.seed, static_cast<std::uint64_t>(step));
  if (!device.is_cpu()) {
    for (at::Tensor* tensor :
         {&batch.states, &batch.valid, &batch.actions, &batch.action_is_pad, &batch.history_drop}) {
      *tensor = tensor->to(device, true);
    }
  }
  return batch;
}

void require_finite(double loss, std::int64_t step, const Inputs& inputs) {
  if (std::isfinite(loss)) {
    return;
  }
  std::string frames;
  for (const auto& id : inputs.frames(step)) {
    frames += fmt::format(" {}/{}", id.episode_index, id.frame_index);
  }
  throw Error(ErrorCode::kNumeric,
              "the loss is not finite",
              fmt::format("step={} loss={} episode/frame:{} ; the last checkpoint is kept, check "
                          "these frames with 'frostline data verify', lower --lr",
                          step,
                          loss,
                          frames));
}

}  // namespace frostline::train
