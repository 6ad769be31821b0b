#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "frostline/accel/artefact.h"
#include "frostline/cli/verb.h"
#include "frostline/quantise/quantise.h"
#include "frostline/split/boundary.h"
#include "frostline/study/encoder_artefact.h"

namespace frostline::cli {

namespace {

constexpr int kNumLayers = 4;

struct Options {
  CommonOptions common;
  study::ArtefactRequest request;
  std::string boundary = "L4";
  std::string episodes;
  std::filesystem::path artefact;
};

study::ArtefactRequest request_of(const Options& options) {
  study::ArtefactRequest request = options.request;
  request.boundary = split::parse_boundary(options.boundary, kNumLayers);
  request.seed = options.common.seed;
  if (!options.episodes.empty()) {
    request.episodes = parse_index_list(options.episodes);
  }
  return request;
}

void print_parity(const std::vector<quantise::ParityRow>& rows) {
  fmt::print("{:<8} {:>10} {:>16}\n", "tensor", "cosine", "relative error");
  for (const auto& row : rows) {
    fmt::print("{:<8} {:>10.5f} {:>16.5f}\n", row.tensor, row.cosine, row.relative_error);
  }
}

void run_quantise(const Options& options) {
  const auto request = request_of(options);
  const auto folder = output_folder(options.common, "encoder");
  const auto prepared = study::make_artefact(request);
  const auto path = folder / "encoder_artefact.safetensors";
  accel::save_artefact(path, prepared.artefact);
  if (options.common.is_json) {
    print_json({{"artefact", path.string()},
                {"fingerprint", prepared.artefact.fingerprint.hex},
                {"precision", prepared.artefact.precision},
                {"method", prepared.method},
                {"duration_s", prepared.duration_s},
                {"parity", study::parity_json(request.boundary, prepared.parity)}});
    return;
  }
  print_parity(prepared.parity);
  fmt::print("{} by {} in {:.1f} s\n{}\n",
             prepared.artefact.precision,
             prepared.method.empty() ? "lowering" : prepared.method,
             prepared.duration_s,
             path.string());
}

void run_parity(const Options& options) {
  const auto artefact = accel::load_artefact(options.artefact);
  const auto rows = study::measure_parity(request_of(options), artefact);
  const int boundary = static_cast<int>(artefact.outputs.size()) - 1;
  if (options.common.is_json) {
    print_json({{"parity", study::parity_json(boundary, rows)}});
  } else {
    print_parity(rows);
  }
  quantise::require_parity(rows, quantise::kGateCosine);
}

void add_request_options(CLI::App& verb, Options& options) {
  add_common_options(verb, options.common);
  auto& request = options.request;
  verb.add_option("--dataset", request.dataset, "Frames for calibration and judging")->required();
  verb.add_option("--episodes", options.episodes, "episode_index values: 0:40,45 (default all)");
  verb.add_option("--encoder", request.encoder, "Encoder file or checkpoint")->required();
  verb.add_option("--backend", request.backend, "SDK:device")->capture_default_str();
  verb.add_option("--threads", request.num_threads, "Cores to use; 0 = all")->capture_default_str();
}

}  // namespace

void add_encoder(CLI::App& root) {
  auto* encoder = root.add_subcommand("encoder", "Makes and checks artefacts of a frozen encoder");
  encoder->require_subcommand(1);
  auto* quantise = encoder->add_subcommand("quantise", "Encoder to INT8 (or bf16, fp32) artefact");
  auto options = std::make_shared<Options>();
  add_request_options(*quantise, *options);
  auto& request = options->request;
  quantise->add_option("--boundary", options->boundary, "L0..L4")->capture_default_str();
  quantise->add_option("--encoder-precision", request.precision, "int8, int8+bf16, bf16 or fp32")
      ->capture_default_str();
  quantise->add_option("--batch-size", request.batch_size, "Images a request")
      ->capture_default_str();
  quantise->add_option("--calibration-frames", request.num_calibration, "Frames for the ranges")
      ->capture_default_str();
  quantise->callback([options] { run_quantise(*options); });

  auto* parity = encoder->add_subcommand("parity", "Compares an artefact with fp32");
  auto parity_options = std::make_shared<Options>();
  add_request_options(*parity, *parity_options);
  parity->add_option("--artefact", parity_options->artefact, "File made by encoder quantise")
      ->required();
  parity->callback([parity_options] { run_parity(*parity_options); });
}

}  // namespace frostline::cli
