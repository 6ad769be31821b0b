#pragma once

#include <memory>

#include "frostline/sim/mujoco_model.h"

namespace frostline::sim {

/// How the scripted demonstration of the transfer cube is made.
struct TransferCubeExpertOptions {
  ExpertOptions general = {};
  /// Weight of the weld's orientation rows against its position rows. MuJoCo 3.0 began to
  /// regularise orientation with the rotational inverse weight, 398 times softer than before;
  /// without this the grippers do not follow their targets.
  /// Source: measured, seeds 0..199: 10 gives 200 of 200, 1 (the scene's value) 8-9 of 30.
  double weld_torque_scale = 10.0;
};

/// Moves both grippers through waypoints in the end-effector scene (arms follow mocap bodies by
/// welds) and returns the joint positions that resulted, as targets for the joint-space scene.
/// Source: ACT, `scripted_policy.py` and `record_sim_episodes.py`.
std::unique_ptr<Expert> create_transfer_cube_expert(const TransferCubeExpertOptions& options = {});

}  // namespace frostline::sim
