#include "frostline/sim/mujoco_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <system_error>

#include "frostline/core/error.h"
#include "frostline/core/log.h"

namespace frostline::sim {
namespace {

[[noreturn]] void throw_mujoco_error(const char* message) {
  throw Error(ErrorCode::kInternal, "MuJoCo stopped", message);
}

void log_mujoco_warning(const char* message) {
  log_warning("MuJoCo: {}", message);
}

/// Without handlers MuJoCo ends the process on an error and writes MUJOCO_LOG.TXT on a warning.
void install_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    mju_user_error = throw_mujoco_error;
    mju_user_warning = log_mujoco_warning;
  });
}

}  // namespace

std::filesystem::path assets_folder() {
  const char* variable = std::getenv("FROSTLINE_ASSETS");
  const bool is_set = variable != nullptr && *variable != '\0';
  const std::filesystem::path folder = is_set ? variable : FROSTLINE_DEFAULT_ASSETS;
  std::error_code ignored;
  FROSTLINE_REQUIRE(
      std::filesystem::is_directory(folder, ignored),
      ErrorCode::kIo,
      "the simulation's assets are missing",
      fmt::format("folder={} ({}); run scripts/setup.sh, or set FROSTLINE_ASSETS to the folder "
                  "gym_aloha/assets",
                  folder.string(),
                  is_set ? "from FROSTLINE_ASSETS" : "built in"));
  return folder;
}

std::shared_ptr<const mjModel> load_model(const std::string& file_name,
                                          const std::function<void(mjModel&)>& adapt) {
  install_handlers();
  const std::string path = (assets_folder() / file_name).string();
  std::array<char, 1024> reason{};
  std::shared_ptr<mjModel> model(
      mj_loadXML(path.c_str(), nullptr, reason.data(), static_cast<int>(reason.size())),
      [](mjModel* pointer) {
        if (pointer != nullptr) {
          mj_deleteModel(pointer);
        }
      });
  FROSTLINE_REQUIRE(model != nullptr,
                    ErrorCode::kIo,
                    "MuJoCo cannot load the scene",
                    fmt::format("file={} reason={}", path, reason.data()));
  model->opt.disableflags |= mjDSBL_AUTORESET;
  if (adapt) {
    adapt(*model);
  }
  return model;
}

int id_of(const mjModel& model, mjtObj type, const char* name) {
  const int id = mj_name2id(&model, type, name);
  FROSTLINE_REQUIRE(id >= 0,
                    ErrorCode::kData,
                    "the scene lacks an element",
                    fmt::format("kind={} name={}", mju_type2Str(type), name));
  return id;
}

DataPointer make_data(const mjModel& model) {
  DataPointer data(mj_makeData(&model));
  FROSTLINE_REQUIRE(data != nullptr, ErrorCode::kResource, "no memory for a simulation", "");
  return data;
}

void step_control(const mjModel& model, mjData& data, int num_substeps) {
  mj_step2(&model, &data);
  for (int i = 1; i < num_substeps; ++i) {
    mj_step(&model, &data);
  }
  mj_step1(&model, &data);
}

bool has_diverged(const mjModel& model, const mjData& data) {
  const auto is_finite = [](mjtNum value) { return std::isfinite(value); };
  return !std::all_of(data.qpos, data.qpos + model.nq, is_finite) ||
         !std::all_of(data.qvel, data.qvel + model.nv, is_finite) ||
         std::any_of(std::begin(data.warning),
                     std::end(data.warning),
                     [](const mjWarningStat& warning) { return warning.number > 0; });
}

std::string mujoco_version() {
  return mj_versionString();
}

}  // namespace frostline::sim
