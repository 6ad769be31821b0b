#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "frostline/core/error.h"
#include "frostline/sim/environment.h"

namespace frostline::eval::testing {

constexpr int kImageSize_px = 2;

/// The task of the fakes: one number moves by each action; it succeeds when it reaches 1.
inline const sim::TaskInfo& fake_task() {
  static const sim::TaskInfo task = {
      .id = "fake",
      .instruction = "Reach one.",
      .state_dim = 1,
      .action_dim = 1,
      .control_hz = 50,
      .max_steps = 8,
      .max_reward_stage = 2,
      .cameras = {"top"},
      .start_low_m = {0, 0},
      .start_high_m = {1, 1},
  };
  return task;
}

/// What goes wrong, and how often still. Shared by all environments and renderers of a test.
struct FakeFaults {
  std::uint64_t physics_seed = ~std::uint64_t{0};
  std::atomic<int> num_physics{0};
  std::uint64_t rendering_seed = ~std::uint64_t{0};
  std::atomic<int> num_rendering{0};
  std::atomic<int> num_renderers{0};
  std::atomic<bool> hangs{false};
};

class FakeEnvironment final : public sim::Environment {
 public:
  explicit FakeEnvironment(std::shared_ptr<FakeFaults> faults = std::make_shared<FakeFaults>())
      : faults_(std::move(faults)) {}

  const sim::TaskInfo& task() const override { return fake_task(); }

  void reset(std::uint64_t seed) override {
    seed_ = seed;
    position_ = 0;
    is_success_ = false;
  }

  sim::StepResult step(std::span<const float> action) override {
    while (faults_->hangs) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (seed_ == faults_->physics_seed && faults_->num_physics.fetch_sub(1) > 0) {
      return {.fault = sim::Fault::kPhysics};
    }
    position_ += static_cast<double>(action[0]);
    is_success_ = is_success_ || position_ >= 1;
    return {.reward_stage = position_ >= 1     ? 2
                            : position_ >= 0.5 ? 1
                                               : 0,
            .is_success = is_success_};
  }

  void observe(std::span<float> out) const override { out[0] = static_cast<float>(position_); }

  /// Seeds 0, 1, 2, … walk through a 10 x 10 grid.
  std::vector<double> start_position_m() const override {
    return {static_cast<double>(seed_ % 10) / 10.0, static_cast<double>(seed_ / 10 % 10) / 10.0};
  }

  sim::Snapshot save() const override {
    return {static_cast<double>(seed_), position_, is_success_ ? 1.0 : 0.0};
  }

  void restore(const sim::Snapshot& snapshot) override {
    seed_ = static_cast<std::uint64_t>(snapshot.at(0));
    position_ = snapshot.at(1);
    is_success_ = snapshot.at(2) > 0;
  }

  std::uint64_t seed() const { return seed_; }

 private:
  std::shared_ptr<FakeFaults> faults_;
  std::uint64_t seed_ = 0;
  double position_ = 0;
  bool is_success_ = false;
};

/// Fills the image with the seed; the last byte is the position in percent.
class FakeRenderer final : public sim::Renderer {
 public:
  explicit FakeRenderer(std::shared_ptr<FakeFaults> faults = std::make_shared<FakeFaults>())
      : faults_(std::move(faults)) {
    ++faults_->num_renderers;
  }

  void render(const sim::Environment& environment, std::span<std::uint8_t> out) override {
    const auto& fake = dynamic_cast<const FakeEnvironment&>(environment);
    if (fake.seed() == faults_->rendering_seed && faults_->num_rendering.fetch_sub(1) > 0) {
      throw Error(ErrorCode::kDevice, "rendering failed", "fake");
    }
    std::fill(out.begin(), out.end(), static_cast<std::uint8_t>(fake.seed()));
    float position = 0;
    fake.observe({&position, 1});
    out.back() = static_cast<std::uint8_t>(position * 100);
  }

  std::string version() const override { return "fake renderer"; }

 private:
  std::shared_ptr<FakeFaults> faults_;
};

}  // namespace frostline::eval::testing
