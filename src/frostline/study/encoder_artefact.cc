#include "frostline/study/encoder_artefact.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "frostline/accel/run.h"
#include "frostline/core/clock.h"
#include "frostline/core/error.h"
#include "frostline/core/log.h"
#include "frostline/core/random.h"
#include "frostline/data/dataset.h"
#include "frostline/data/sampler.h"
#include "frostline/pipeline/core_budget.h"
#include "frostline/policy/checkpoint.h"
#include "frostline/quantise/quantise.h"
#include "frostline/split/boundary.h"
#include "frostline/split/encoder_graph.h"

namespace frostline::study {

namespace {

/// Frames for calibration and, apart from them, for judging.
struct Frames {
  std::vector<HostTensor> calibration;
  std::vector<HostTensor> held_out;
};

HostTensor read_frames(const data::Dataset& dataset,
                       const policy::ArActorSpec& spec,
                       std::span<const data::FrameId> ids) {
  const auto count = static_cast<std::int64_t>(ids.size());
  HostTensor frames(DType::kU8, {count, spec.image_height_px, spec.image_width_px, 3});
  const std::size_t size = frames.bytes().size() / ids.size();
  auto pixels = frames.data<std::uint8_t>();
  for (const auto& id : ids) {
    dataset.read_image(spec.camera, id, pixels.first(size));
    pixels = pixels.subspan(size);
  }
  return frames;
}

Frames draw_frames(const ArtefactRequest& request, const policy::ArActorSpec& spec) {
  const auto dataset = data::open_dataset(request.dataset);
  std::vector<std::int64_t> episodes = request.episodes;
  if (episodes.empty()) {
    episodes.assign(dataset->episodes().begin(), dataset->episodes().end());
  }
  const data::Sampler sampler(*dataset, episodes, 1, request.seed);
  const std::int64_t wanted = request.num_calibration + request.num_held_out;
  FROSTLINE_REQUIRE(sampler.num_anchors() >= wanted,
                    ErrorCode::kData,
                    "too few frames to calibrate on",
                    fmt::format("data set={} frames={} needed={} ; record more, or ask for fewer",
                                request.dataset.string(),
                                sampler.num_anchors(),
                                wanted));
  Random random(request.seed, RandomStream::kCalibration);
  auto order = random_permutation(sampler.num_anchors(), random);
  order.resize(static_cast<std::size_t>(wanted));
  // In data set order within each part, so that video is decoded forwards.
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(request.num_calibration);
  std::sort(order.begin(), middle);
  std::sort(middle, order.end());
  std::vector<data::FrameId> ids;
  ids.reserve(order.size());
  for (const auto index : order) {
    ids.push_back(sampler.anchors()[static_cast<std::size_t>(index)]);
  }
  const auto split = static_cast<std::size_t>(request.num_calibration);
  const std::span<const data::FrameId> all(ids);
  return {
      quantise::batches_of(read_frames(*dataset, spec, all.first(split)), request.batch_size),
      quantise::batches_of(read_frames(*dataset, spec, all.subspan(split)), request.batch_size)};
}

accel::Compiler compiler_of(const ArtefactRequest& request) {
  const auto budget = pipeline::plan_cores(request.num_threads);
  return accel::session_compiler(request.backend, {1, budget.encoder_alone});
}

graph::Graph graph_of(const ArtefactRequest& request, const policy::EncoderFile& encoder) {
  return split::encoder_graph(
      encoder.spec, encoder.parameters.to_host(), request.boundary, request.batch_size);
}

std::vector<quantise::ParityRow> parity_of(const accel::Artefact& reference,
                                           const accel::Artefact& candidate,
                                           const accel::Compiler& compile,
                                           std::span<const HostTensor> batches) {
  return quantise::parity(
      {reference, compile(reference)}, {candidate, compile(candidate)}, batches);
}

}  // namespace

PreparedArtefact make_artefact(const ArtefactRequest& request) {
  const auto begin_ns = Clock::steady().now_ns();
  const auto encoder = policy::read_encoder(request.encoder);
  const Frames frames = draw_frames(request, encoder.spec);
  const graph::Graph graph = graph_of(request, encoder);
  const accel::Compiler compile = compiler_of(request);
  PreparedArtefact prepared;
  if (request.precision == "fp32" || request.precision == "bf16") {
    prepared.artefact = quantise::float_artefact(graph, request.precision);
    prepared.parity = parity_of(
        quantise::float_artefact(graph, "fp32"), prepared.artefact, compile, frames.held_out);
    quantise::require_parity(prepared.parity, quantise::kGateCosine);
  } else {
    quantise::QuantiseOptions options;
    options.precision = request.precision;
    auto result = quantise::quantise(graph, frames.calibration, frames.held_out, compile, options);
    prepared.artefact = std::move(result.artefact);
    prepared.parity = std::move(result.report.rows);
    prepared.method = to_string(result.report.chosen);
  }
  prepared.duration_s = seconds(Clock::steady().now_ns() - begin_ns);
  return prepared;
}

std::vector<quantise::ParityRow> measure_parity(const ArtefactRequest& request,
                                                const accel::Artefact& artefact) {
  const auto encoder = policy::read_encoder(request.encoder);
  ArtefactRequest sized = request;
  sized.batch_size = artefact.input.shape.at(0);
  sized.boundary = static_cast<int>(artefact.outputs.size()) - 1;
  const Frames frames = draw_frames(sized, encoder.spec);
  return parity_of(quantise::float_artefact(graph_of(sized, encoder), "fp32"),
                   artefact,
                   compiler_of(request),
                   frames.held_out);
}

accel::Artefact artefact_for(const train::TrainOptions& options) {
  const auto stored = options.loop.out / "encoder_artefact.safetensors";
  const auto path = options.artefact.empty() ? stored : options.artefact;
  if (!options.artefact.empty() || std::filesystem::exists(stored)) {
    accel::Artefact artefact =
        accel::with_batch(accel::load_artefact(path), options.loop.batch_size);
    FROSTLINE_REQUIRE(static_cast<int>(artefact.outputs.size()) == options.boundary + 1,
                      ErrorCode::kConfig,
                      "artefact of another boundary",
                      fmt::format("file={} tensors={} --boundary={} ; quantise for this boundary",
                                  path.string(),
                                  artefact.outputs.size(),
                                  split::boundary_name(options.boundary)));
    FROSTLINE_REQUIRE(artefact.precision == options.encoder_precision,
                      ErrorCode::kConfig,
                      "artefact of another precision",
                      fmt::format("file={} precision={} --encoder-precision={} ; ask for that "
                                  "precision, or remove the file or take another folder",
                                  path.string(),
                                  artefact.precision,
                                  options.encoder_precision));
    return artefact;
  }
  ArtefactRequest request;
  request.dataset = options.loop.dataset;
  request.episodes = options.loop.episodes;
  request.encoder = options.encoder;
  request.boundary = options.boundary;
  request.precision = options.encoder_precision;
  request.backend = options.backend;
  request.batch_size = options.loop.batch_size;
  request.seed = options.loop.seed;
  request.num_threads = options.loop.num_threads;
  auto prepared = make_artefact(request);
  log_info("quantised the encoder to {} in {:.1f} s: {}",
           request.precision,
           prepared.duration_s,
           quantise::to_text(prepared.parity));
  accel::save_artefact(stored, prepared.artefact);
  return std::move(prepared.artefact);
}

Json parity_json(int boundary, const std::vector<quantise::ParityRow>& rows) {
  Json result = Json::array();
  for (const auto& row : rows) {
    result.push_back({{"boundary", split::boundary_name(boundary)},
                      {"tensor", row.tensor},
                      {"cosine", row.cosine},
                      {"relative_error", row.relative_error}});
  }
  return result;
}

}  // namespace frostline::study
