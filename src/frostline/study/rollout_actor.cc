#include "frostline/study/rollout_actor.h"

#include <algorithm>

#include <ATen/Parallel.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include "frostline/accel/run.h"
#include "frostline/core/error.h"
#include "frostline/pipeline/core_budget.h"
#include "frostline/policy/convert.h"

namespace frostline::study {

RolloutActor::RolloutActor(policy::ArActorCheckpoint checkpoint,
                           const RolloutFeatures& features,
                           std::int64_t batch)
    : checkpoint_(std::move(checkpoint)),
      batch_(batch),
      encoder_(checkpoint_.spec, checkpoint_.encoder),
      expert_(checkpoint_.spec, checkpoint_.expert),
      actor_(expert_, checkpoint_.state, checkpoint_.action),
      image_(DType::kU8, {batch, spec().image_height_px, spec().image_width_px, 3}) {
  at::set_num_threads(1);
  split::Coding coding;
  if (features.artefact) {
    const accel::Artefact artefact = accel::with_batch(*features.artefact, batch);
    FROSTLINE_REQUIRE(
        artefact.input.shape == image_.shape(),
        ErrorCode::kConfig,
        "the artefact is for images of another size",
        fmt::format(
            "artefact={} policy={}", to_string(artefact.input.shape), to_string(image_.shape())));
    coding = {artefact.scales, artefact.zero_points};
    const auto budget = pipeline::plan_cores(features.num_threads);
    session_ = accel::open_session(features.backend, artefact, {1, budget.encoder_alone});
  }
  tail_ = std::make_unique<split::FrozenTail>(encoder_, std::move(coding));
}

bool RolloutActor::needs_images(std::int64_t step) const {
  return step % spec().vision_interval == 0;
}

void RolloutActor::reset(std::span<const std::uint64_t>) {
  actor_.reset(batch_);
}

policy::Prefix RolloutActor::encode(std::span<const std::uint8_t> images) {
  std::copy(images.begin(), images.end(), image_.data<std::uint8_t>().begin());
  std::vector<at::Tensor> inputs;
  if (session_ == nullptr) {
    inputs.push_back(policy::to_torch(image_));
  } else {
    for (const auto& tensor : accel::run(*session_, image_)) {
      inputs.push_back(policy::to_torch(tensor));
    }
  }
  for (at::Tensor& input : inputs) {
    input = input.to(encoder_.device());
  }
  return (*tail_)(inputs);
}

void RolloutActor::act(std::int64_t step,
                       std::span<const float> states,
                       std::span<const std::uint8_t> images,
                       std::span<float> actions) {
  FROSTLINE_CHECK(images.empty() != needs_images(step));
  if (!images.empty()) {
    actor_.observe_image(encode(images));
  }
  // from_blob takes a mutable pointer; the tensor is only read.
  const at::Tensor input =
      at::from_blob(const_cast<float*>(states.data()), {batch_, spec().state_dim}, at::kFloat);
  const at::Tensor output = actor_.act(input).contiguous();
  std::copy_n(output.data_ptr<float>(), actions.size(), actions.begin());
}

sim::RenderOptions render_options(const policy::ArActorSpec& spec) {
  sim::RenderOptions options;
  const auto dot = spec.camera.rfind('.');
  options.camera = dot == std::string::npos ? spec.camera : spec.camera.substr(dot + 1);
  options.height_px = static_cast<int>(spec.image_height_px);
  options.width_px = static_cast<int>(spec.image_width_px);
  return options;
}

}  // namespace frostline::study
