#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <random>

#include "frostline/sim/mujoco_model.h"

namespace frostline::sim {

/// Facts of the bimanual transfer-cube task that environment and expert share.
/// Source: gym-aloha 0.1.5, `constants.py` and `tasks/sim.py`.
struct TransferCube {
  static constexpr int kNumSubsteps = 10;       ///< 2 ms each: 50 Hz control.
  static constexpr std::size_t kStateDim = 14;  ///< (6 joints, gripper) of each arm.
  static constexpr std::size_t kNumArmJoints = 16;
  static constexpr std::size_t kNumSteps = 400;
  /// Pose of both arms at reset, in the order of qpos and of the controls.
  static constexpr std::array<double, kNumArmJoints> kStartPose = {
      0, -0.96, 1.16, 0, -0.3, 0, 0.02239, -0.02239, 0, -0.96, 1.16, 0, -0.3, 0, 0.02239, -0.02239};
  /// Where the cube may start, x and y.
  static constexpr std::array<double, 2> kCubeLow_m = {0.0, 0.4};
  static constexpr std::array<double, 2> kCubeHigh_m = {0.2, 0.6};
  static constexpr double kClosedFinger_m = 0.01844;
  static constexpr double kOpenFinger_m = 0.05800;

  /// Finger position of a gripper value (0 closed, 1 open).
  static double finger_m(double gripper) {
    return gripper * (kOpenFinger_m - kClosedFinger_m) + kClosedFinger_m;
  }

  static double gripper(double finger_m) {
    return (finger_m - kClosedFinger_m) / (kOpenFinger_m - kClosedFinger_m);
  }

  static const TaskInfo& info();
};

/// Uniform numbers as numpy's `RandomState(seed).uniform` draws them.
/// Source: numpy's legacy generator: MT19937 with `init_genrand`, 53-bit doubles of two draws.
class NumpyRandom {
 public:
  /// Errors: `kUsage` when `seed` does not fit 32 bits, which numpy refuses too.
  explicit NumpyRandom(std::uint64_t seed);
  double uniform(double low, double high);

 private:
  std::mt19937 generator_;
};

/// Where the cube lies at the start of `seed`. Units: metres.
std::array<double, 3> transfer_cube_position_m(std::uint64_t seed);

/// What touches the cube.
struct CubeContacts {
  bool has_right_finger = false;
  bool has_left_finger = false;
  bool has_table = false;
};

/// 0 nothing; 1 the right finger touches the cube; 2 and lifts it; 3 the left finger touches it;
/// 4 and the table does not.
int transfer_cube_stage(const CubeContacts& contacts);

/// Puts arms and cube into the start pose, derived quantities not yet computed.
void place_transfer_cube(const mjModel& model,
                         mjData& data,
                         const std::array<double, 3>& cube_position_m);

/// Joint positions with the fingers as gripper values. Shape: [14].
std::array<double, TransferCube::kStateDim> transfer_cube_state(const mjData& data);

/// The joint-space scene, compiled once per process and shared by all environments.
std::shared_ptr<const mjModel> transfer_cube_model();

std::unique_ptr<Environment> create_transfer_cube();

}  // namespace frostline::sim
