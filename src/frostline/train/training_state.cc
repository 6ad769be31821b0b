#include "frostline/train/training_state.h"

#include <unistd.h>

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/version.h>

#include "frostline/core/error.h"
#include "frostline/core/file.h"
#include "frostline/core/log.h"
#include "frostline/core/safetensors.h"
#include "frostline/policy/convert.h"

namespace frostline::train {

namespace fs = std::filesystem;

namespace {

constexpr const char* kState = "training_state";

std::vector<std::pair<std::string, at::Tensor>> all_state(const policy::ParameterSet& parameters,
                                                          const Optimiser& optimiser) {
  auto state = optimiser.state();
  state.emplace_back("values", parameters.values());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters.specs()[i].role == policy::ParameterRole::kNormStatistic) {
      state.emplace_back(parameters.specs()[i].name, parameters[i]);
    }
  }
  return state;
}

void require_equal(const Json& stored,
                   const Json& wanted,
                   ErrorCode code,
                   const char* message,
                   const char* remedy) {
  for (const auto& [key, value] : wanted.items()) {
    const Json other = stored.value(key, Json());
    FROSTLINE_REQUIRE(
        other == value,
        code,
        message,
        fmt::format("{}: checkpoint={} now={} ; {}", key, other.dump(), value.dump(), remedy));
  }
}

}  // namespace

Json machine_class() {
  return {{"cpu_capability", at::get_cpu_capability()},
          {"num_threads", at::get_num_threads()},
          {"torch", TORCH_VERSION}};
}

CheckpointFolder::CheckpointFolder(const fs::path& run_folder, int num_cores)
    : folder_(run_folder / "checkpoints"), num_cores_(num_cores) {}

Json CheckpointFolder::machine() const {
  Json machine = machine_class();
  machine["num_cores"] = num_cores_;
  return machine;
}

void CheckpointFolder::save(std::int64_t step,
                            const policy::ParameterSet& parameters,
                            const Optimiser& optimiser,
                            const Json& config,
                            const std::function<void(const fs::path&)>& write_model) const {
  const std::string name = fmt::format("{:06}", step);
  const fs::path partial = folder_ / (name + ".partial");
  fs::remove_all(partial);
  fs::create_directories(partial / kState);
  write_model(partial / "pretrained_model");
  SafeTensors state;
  for (const auto& [key, tensor] : all_state(parameters, optimiser)) {
    state.tensors.emplace(key, policy::to_host(tensor));
  }
  write_safetensors(partial / kState / "optimizer_state.safetensors", state);
  write_json(partial / kState / "training_step.json",
             {{"step", step}, {"config", config}, {"machine", machine()}});
  replace_folder(partial, folder_ / name);
  const fs::path link = folder_ / fmt::format("last.{}", ::getpid());
  fs::remove(link);
  fs::create_symlink(name, link);
  fs::rename(link, folder_ / "last");
}

std::optional<fs::path> CheckpointFolder::last() const {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path().extension() == ".partial") {
      log_warning("ignoring a checkpoint that was never finished: {}", entry.path().string());
    }
  }
  const fs::path link = folder_ / "last";
  if (!fs::exists(link)) {
    return std::nullopt;
  }
  return folder_ / fs::read_symlink(link);
}

std::int64_t CheckpointFolder::begin(policy::ParameterSet& parameters,
                                     Optimiser& optimiser,
                                     const Json& config,
                                     const LoopOptions& loop) const {
  if (!loop.is_resume) {
    FROSTLINE_REQUIRE(!last(),
                      ErrorCode::kUsage,
                      "the folder already holds a run",
                      fmt::format("--out={} ; pass --resume or another folder", loop.out.string()));
    return 0;
  }
  const auto step = restore(parameters, optimiser, config, loop.allows_inexact);
  if (step) {
    log_info("resuming after step {}", *step);
  }
  return step.value_or(0);
}

std::optional<std::int64_t> CheckpointFolder::restore(policy::ParameterSet& parameters,
                                                      Optimiser& optimiser,
                                                      const Json& config,
                                                      bool allows_inexact) const {
  const auto folder = last();
  if (!folder) {
    return std::nullopt;
  }
  const Json position = read_json(*folder / kState / "training_step.json");
  require_equal(position.at("config"),
                config,
                ErrorCode::kConfig,
                "the run was started with another configuration",
                "resume with the same one, or start a new run in another folder");
  if (!allows_inexact) {
    require_equal(position.at("machine"),
                  machine(),
                  ErrorCode::kUnsupported,
                  "resuming here would not give the same bits",
                  "use the same machine class and threads, or pass --allow-inexact");
  }
  const fs::path file = *folder / kState / "optimizer_state.safetensors";
  const SafeTensors stored = read_safetensors(file);
  const at::NoGradGuard no_grad;
  for (auto& [key, tensor] : all_state(parameters, optimiser)) {
    const auto found = stored.tensors.find(key);
    FROSTLINE_REQUIRE(
        found != stored.tensors.end() && num_elements(found->second.shape()) == tensor.numel(),
        ErrorCode::kData,
        "checkpoint of another shape",
        fmt::format("file={} tensor={} ; resume with the same model", file.string(), key));
    at::Tensor(tensor).detach().copy_(policy::to_torch(found->second).view_as(tensor));
  }
  return position.at("step").get<std::int64_t>();
}

}  // namespace frostline::train
