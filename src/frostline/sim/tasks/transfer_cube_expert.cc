#include "frostline/sim/tasks/transfer_cube_expert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/sim/tasks/transfer_cube.h"

namespace frostline::sim {
namespace {

using Position = std::array<double, 3>;
using Quaternion = std::array<double, 4>;

struct Waypoint {
  int step = 0;
  Position position_m{};
  Quaternion orientation{};
  double gripper = 0;
};

constexpr Position kLeftStart_m = {-0.31718881, 0.5, 0.29525084};
constexpr Position kRightStart_m = {0.31718881, 0.49999888, 0.29525084};
constexpr Position kMeeting_m = {0, 0.5, 0.25};
constexpr Quaternion kIdentity = {1, 0, 0, 0};

Position operator+(const Position& a, const Position& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}

Quaternion rotation(const Position& axis, double degrees) {
  const double half_rad = degrees * std::numbers::pi / 360.0;
  const double sine = std::sin(half_rad);
  return {std::cos(half_rad), sine * axis[0], sine * axis[1], sine * axis[2]};
}

std::vector<Waypoint> right_waypoints(const Position& cube_m) {
  const Quaternion pick = rotation({0, 1, 0}, -60);
  const Position grasp_m = cube_m + Position{0, 0, -0.015};
  const Position away_m = kMeeting_m + Position{0.1, 0, 0};
  return {
      {0, kRightStart_m, kIdentity, 0},
      {90, cube_m + Position{0, 0, 0.08}, pick, 1},
      {130, grasp_m, pick, 1},
      {170, grasp_m, pick, 0},
      {200, kMeeting_m + Position{0.05, 0, 0}, pick, 0},
      {220, kMeeting_m, pick, 0},
      {310, kMeeting_m, pick, 1},
      {360, away_m, pick, 1},
      {400, away_m, pick, 1},
  };
}

std::vector<Waypoint> left_waypoints() {
  const Quaternion meet = rotation({1, 0, 0}, 90);
  const Position beside_m = kMeeting_m + Position{-0.1, 0, -0.02};
  const Position take_m = kMeeting_m + Position{0.02, 0, -0.02};
  return {
      {0, kLeftStart_m, kIdentity, 0},
      {100, beside_m, meet, 1},
      {260, take_m, meet, 1},
      {310, take_m, meet, 0},
      {360, beside_m, kIdentity, 0},
      {400, beside_m, kIdentity, 0},
  };
}

/// Linear in everything; MuJoCo normalises the quaternion.
Waypoint interpolate(const std::vector<Waypoint>& waypoints, int step) {
  std::size_t next = 1;
  while (next + 1 < waypoints.size() && step >= waypoints[next].step) {
    ++next;
  }
  const Waypoint& a = waypoints[next - 1];
  const Waypoint& b = waypoints[next];
  const double fraction =
      std::min(1.0, static_cast<double>(step - a.step) / static_cast<double>(b.step - a.step));
  const auto mix = [fraction](double from, double to) { return from + (to - from) * fraction; };
  Waypoint result;
  result.step = step;
  for (std::size_t i = 0; i < 3; ++i) {
    result.position_m[i] = mix(a.position_m[i], b.position_m[i]);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    result.orientation[i] = mix(a.orientation[i], b.orientation[i]);
  }
  result.gripper = mix(a.gripper, b.gripper);
  return result;
}

std::shared_ptr<const mjModel> load_end_effector_model(double weld_torque_scale) {
  return load_model("bimanual_viperx_end_effector_transfer_cube.xml", [&](mjModel& model) {
    FROSTLINE_CHECK(model.neq == 2 && model.nmocap == 2 && model.nu == 4);
    for (int weld = 0; weld < model.neq; ++weld) {
      FROSTLINE_CHECK(model.eq_type[weld] == mjEQ_WELD);
      model.eq_data[weld * mjNEQDATA + 10] = weld_torque_scale;
    }
  });
}

class TransferCubeExpert final : public Expert {
 public:
  explicit TransferCubeExpert(const TransferCubeExpertOptions& options)
      : options_(options),
        model_(load_end_effector_model(options.weld_torque_scale)),
        data_(make_data(*model_)) {}

  std::vector<std::vector<float>> plan(std::uint64_t seed) override {
    const Position cube_m = transfer_cube_position_m(seed);
    const std::array<std::vector<Waypoint>, 2> arms = {left_waypoints(), right_waypoints(cube_m)};
    // Its own stream: the cube's place is drawn from `seed` itself.
    NumpyRandom noise((seed + 7) & 0xffffffffU);
    reset(cube_m);

    std::vector<std::vector<float>> actions;
    actions.reserve(TransferCube::kNumSteps);
    std::array<double, 2> grippers{};
    for (std::size_t step = 0; step < TransferCube::kNumSteps; ++step) {
      // The command of a step is the pose reached before it, with the grippers as last commanded.
      actions.push_back(joint_action(grippers));
      for (std::size_t arm = 0; arm < 2; ++arm) {
        Waypoint target = interpolate(arms[arm], static_cast<int>(step));
        if (options_.general.noise_m > 0) {
          for (double& coordinate : target.position_m) {
            coordinate += noise.uniform(-options_.general.noise_m, options_.general.noise_m);
          }
        }
        command(arm, target);
        grippers[arm] = target.gripper;
      }
      step_control(*model_, *data_, TransferCube::kNumSubsteps);
      FROSTLINE_REQUIRE(!has_diverged(*model_, *data_),
                        ErrorCode::kNumeric,
                        "the scripted expert's simulation diverged",
                        fmt::format("task={} seed={} step={} mujoco={}",
                                    TransferCube::info().id,
                                    seed,
                                    step,
                                    mujoco_version()));
    }
    return actions;
  }

 private:
  void reset(const Position& cube_m) {
    mj_resetData(model_.get(), data_.get());
    place_transfer_cube(*model_, *data_, cube_m);
    command(0, {0, kLeftStart_m, kIdentity, 0});
    command(1, {0, kRightStart_m, kIdentity, 0});
    mj_forward(model_.get(), data_.get());
  }

  void command(std::size_t arm, const Waypoint& target) {
    std::copy(target.position_m.begin(), target.position_m.end(), data_->mocap_pos + 3 * arm);
    std::copy(target.orientation.begin(), target.orientation.end(), data_->mocap_quat + 4 * arm);
    const double finger_m = TransferCube::finger_m(target.gripper);
    data_->ctrl[2 * arm] = finger_m;
    data_->ctrl[2 * arm + 1] = -finger_m;
  }

  std::vector<float> joint_action(const std::array<double, 2>& grippers) const {
    auto state = transfer_cube_state(*data_);
    state[6] = grippers[0];
    state[13] = grippers[1];
    std::vector<float> action(state.size());
    std::transform(state.begin(), state.end(), action.begin(), [](double value) {
      return static_cast<float>(value);
    });
    return action;
  }

  TransferCubeExpertOptions options_;
  std::shared_ptr<const mjModel> model_;
  DataPointer data_;
};

}  // namespace

std::unique_ptr<Expert> create_transfer_cube_expert(const TransferCubeExpertOptions& options) {
  return std::make_unique<TransferCubeExpert>(options);
}

}  // namespace frostline::sim
