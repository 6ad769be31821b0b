#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <mujoco/mujoco.h>

#include "frostline/sim/environment.h"

namespace frostline::sim {

/// Folder with the scene files and meshes: `$FROSTLINE_ASSETS`, else the one known at build time.
/// Errors: `kIo` when there is no such folder.
std::filesystem::path assets_folder();

/// Loads and compiles a scene of `assets_folder()`, applies `adapt` to it and freezes it.
///
/// MuJoCo's automatic reset on bad numbers is switched off, so that a diverged simulation is seen
/// as such instead of silently starting over.
/// Errors: `kIo` naming the file and MuJoCo's reason.
std::shared_ptr<const mjModel> load_model(const std::string& file_name,
                                          const std::function<void(mjModel&)>& adapt = {});

/// Id of a named element. Errors: `kData` naming the element.
int id_of(const mjModel& model, mjtObj type, const char* name);

struct DataDeleter {
  void operator()(mjData* data) const { mj_deleteData(data); }
};

using DataPointer = std::unique_ptr<mjData, DataDeleter>;

/// Errors: `kResource` when out of memory.
DataPointer make_data(const mjModel& model);

/// Advances by `num_substeps` from a state whose position and velocity stages are up to date and
/// leaves it so: contacts, sensors and poses belong to the state after the last substep.
/// Source: dm_control, `Physics.step` (mj_step2, n - 1 times mj_step, mj_step1).
void step_control(const mjModel& model, mjData& data, int num_substeps);

/// True when a number is not finite or MuJoCo warned since the last reset.
bool has_diverged(const mjModel& model, const mjData& data);

/// An environment that MuJoCo simulates, as the renderer sees it.
class MujocoEnvironment : public Environment {
 public:
  virtual const mjModel& model() const = 0;
  /// The state to draw. Drawing uses its scratch stack, hence not const, but changes no state.
  virtual mjData& scene_data() const = 0;
};

}  // namespace frostline::sim
