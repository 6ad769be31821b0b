#pragma once

#include <memory>

#include "frostline/sim/mujoco_model.h"

namespace frostline::sim {

/// Draws environments that simulate `model` with MuJoCo's own renderer in a window-less OpenGL
/// context.
/// Errors: `kUsage` naming the known cameras; `kDevice` when there is no usable OpenGL.
std::unique_ptr<Renderer> create_mujoco_renderer(std::shared_ptr<const mjModel> model,
                                                 const RenderOptions& options);

}  // namespace frostline::sim
