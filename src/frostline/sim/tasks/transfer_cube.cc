#include "frostline/sim/tasks/transfer_cube.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "frostline/core/error.h"

namespace frostline::sim {
namespace {

/// Geoms whose contacts with the cube decide the stage.
struct StageGeoms {
  explicit StageGeoms(const mjModel& model)
      : cube(id_of(model, mjOBJ_GEOM, "red_box")),
        left_finger(id_of(model, mjOBJ_GEOM, "vx300s_left/10_left_gripper_finger")),
        right_finger(id_of(model, mjOBJ_GEOM, "vx300s_right/10_right_gripper_finger")),
        table(id_of(model, mjOBJ_GEOM, "table")) {}

  CubeContacts contacts(const mjData& data) const {
    CubeContacts result;
    for (int i = 0; i < data.ncon; ++i) {
      // The order of a pair follows geom types, so both are looked at.
      const int* geom = data.contact[i].geom;
      if (geom[0] != cube && geom[1] != cube) {
        continue;
      }
      const int other = geom[0] == cube ? geom[1] : geom[0];
      result.has_right_finger |= other == right_finger;
      result.has_left_finger |= other == left_finger;
      result.has_table |= other == table;
    }
    return result;
  }

  int cube, left_finger, right_finger, table;
};

class TransferCubeEnvironment final : public MujocoEnvironment {
 public:
  explicit TransferCubeEnvironment(std::shared_ptr<const mjModel> model)
      : model_(std::move(model)), data_(make_data(*model_)), geoms_(*model_) {
    reset(0);
  }

  const TaskInfo& task() const override { return TransferCube::info(); }

  const mjModel& model() const override { return *model_; }

  mjData& scene_data() const override { return *data_; }

  void reset(std::uint64_t seed) override {
    start_position_m_ = transfer_cube_position_m(seed);
    is_success_ = false;
    mj_resetData(model_.get(), data_.get());
    place_transfer_cube(*model_, *data_, start_position_m_);
    std::copy(TransferCube::kStartPose.begin(), TransferCube::kStartPose.end(), data_->ctrl);
    mj_forward(model_.get(), data_.get());
  }

  StepResult step(std::span<const float> action) override {
    FROSTLINE_REQUIRE(action.size() == TransferCube::kStateDim,
                      ErrorCode::kUsage,
                      "the action has the wrong size",
                      fmt::format("values={} needed={}", action.size(), TransferCube::kStateDim));
    const auto bad = std::find_if(
        action.begin(), action.end(), [](float value) { return !std::isfinite(value); });
    FROSTLINE_REQUIRE(
        bad == action.end(),
        ErrorCode::kNumeric,
        "the action is not finite",
        fmt::format(
            "dimension={} value={} time_s={:.2f}", bad - action.begin(), *bad, data_->time));
    for (std::size_t arm = 0; arm < 2; ++arm) {
      double* control = data_->ctrl + 8 * arm;
      std::copy_n(action.begin() + static_cast<std::ptrdiff_t>(7 * arm), 6, control);
      control[6] = TransferCube::finger_m(static_cast<double>(action[7 * arm + 6]));
      control[7] = -control[6];
    }
    step_control(*model_, *data_, TransferCube::kNumSubsteps);

    StepResult result;
    if (has_diverged(*model_, *data_)) {
      result.fault = Fault::kPhysics;
      result.is_success = is_success_;
      return result;
    }
    result.reward_stage = transfer_cube_stage(geoms_.contacts(*data_));
    is_success_ |= result.reward_stage == TransferCube::info().max_reward_stage;
    result.is_success = is_success_;
    return result;
  }

  void observe(std::span<float> out) const override {
    const auto state = transfer_cube_state(*data_);
    FROSTLINE_REQUIRE(out.size() == state.size(),
                      ErrorCode::kUsage,
                      "the state's buffer has the wrong size",
                      fmt::format("values={} needed={}", out.size(), state.size()));
    std::transform(state.begin(), state.end(), out.begin(), [](double value) {
      return static_cast<float>(value);
    });
  }

  std::vector<double> start_position_m() const override {
    return {start_position_m_.begin(), start_position_m_.end()};
  }

  Snapshot save() const override {
    const auto size = static_cast<std::size_t>(mj_stateSize(model_.get(), mjSTATE_INTEGRATION));
    Snapshot snapshot(size + kNumOwn);
    mj_getState(model_.get(), data_.get(), snapshot.data(), mjSTATE_INTEGRATION);
    std::copy(start_position_m_.begin(), start_position_m_.end(), snapshot.end() - kNumOwn);
    snapshot.back() = is_success_ ? 1 : 0;
    return snapshot;
  }

  void restore(const Snapshot& snapshot) override {
    const auto size = static_cast<std::size_t>(mj_stateSize(model_.get(), mjSTATE_INTEGRATION));
    FROSTLINE_REQUIRE(snapshot.size() == size + kNumOwn,
                      ErrorCode::kUsage,
                      "the snapshot belongs to another task",
                      fmt::format("values={} needed={}", snapshot.size(), size + kNumOwn));
    mj_resetData(model_.get(), data_.get());
    mj_setState(model_.get(), data_.get(), snapshot.data(), mjSTATE_INTEGRATION);
    std::copy_n(snapshot.end() - kNumOwn, start_position_m_.size(), start_position_m_.begin());
    is_success_ = snapshot.back() > 0;
    // Not mj_forward: that would replace the warm start of the solver, which is part of the state.
    mj_step1(model_.get(), data_.get());
  }

 private:
  /// Cube start position and the success flag, after MuJoCo's own state.
  static constexpr std::ptrdiff_t kNumOwn = 4;

  std::shared_ptr<const mjModel> model_;
  DataPointer data_;
  StageGeoms geoms_;
  std::array<double, 3> start_position_m_{};
  bool is_success_ = false;
};

}  // namespace

const TaskInfo& TransferCube::info() {
  static const TaskInfo info = {
      .id = "aloha_transfer_cube",
      .instruction = "Pick up the red cube with the right arm and hand it to the left arm.",
      .state_dim = kStateDim,
      .action_dim = kStateDim,
      .control_hz = 50,
      .max_steps = kNumSteps,
      .max_reward_stage = 4,
      .cameras = {"top",
                  "angle",
                  "front_close",
                  "left_pillar",
                  "right_pillar",
                  "left_wrist",
                  "right_wrist"},
      .start_low_m = {kCubeLow_m.begin(), kCubeLow_m.end()},
      .start_high_m = {kCubeHigh_m.begin(), kCubeHigh_m.end()},
  };
  return info;
}

NumpyRandom::NumpyRandom(std::uint64_t seed) : generator_(static_cast<std::uint32_t>(seed)) {
  FROSTLINE_REQUIRE(
      seed <= std::numeric_limits<std::uint32_t>::max(),
      ErrorCode::kUsage,
      "the environment seed is too large",
      fmt::format("seed={} largest={}", seed, std::numeric_limits<std::uint32_t>::max()));
}

double NumpyRandom::uniform(double low, double high) {
  const auto upper = static_cast<double>(generator_() >> 5);
  const auto lower = static_cast<double>(generator_() >> 6);
  return low + (high - low) * ((upper * 67108864.0 + lower) / 9007199254740992.0);
}

std::array<double, 3> transfer_cube_position_m(std::uint64_t seed) {
  NumpyRandom random(seed);
  const double x = random.uniform(TransferCube::kCubeLow_m[0], TransferCube::kCubeHigh_m[0]);
  const double y = random.uniform(TransferCube::kCubeLow_m[1], TransferCube::kCubeHigh_m[1]);
  return {x, y, 0.05};
}

int transfer_cube_stage(const CubeContacts& contacts) {
  if (contacts.has_left_finger) {
    return contacts.has_table ? 3 : 4;
  }
  if (contacts.has_right_finger) {
    return contacts.has_table ? 1 : 2;
  }
  return 0;
}

void place_transfer_cube(const mjModel& model,
                         mjData& data,
                         const std::array<double, 3>& cube_position_m) {
  FROSTLINE_CHECK(model.nq == 23);
  std::copy(TransferCube::kStartPose.begin(), TransferCube::kStartPose.end(), data.qpos);
  std::copy(cube_position_m.begin(), cube_position_m.end(), data.qpos + 16);
  const std::array<double, 4> upright = {1, 0, 0, 0};
  std::copy(upright.begin(), upright.end(), data.qpos + 19);
}

std::array<double, TransferCube::kStateDim> transfer_cube_state(const mjData& data) {
  std::array<double, TransferCube::kStateDim> state{};
  for (std::size_t arm = 0; arm < 2; ++arm) {
    std::copy_n(data.qpos + 8 * arm, 7, state.begin() + static_cast<std::ptrdiff_t>(7 * arm));
    state[7 * arm + 6] = TransferCube::gripper(data.qpos[8 * arm + 6]);
  }
  return state;
}

std::shared_ptr<const mjModel> transfer_cube_model() {
  static const std::shared_ptr<const mjModel> model =
      load_model("bimanual_viperx_transfer_cube.xml");
  return model;
}

std::unique_ptr<Environment> create_transfer_cube() {
  return std::make_unique<TransferCubeEnvironment>(transfer_cube_model());
}

}  // namespace frostline::sim
