#include "frostline/eval/environment_pool.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "frostline/core/error.h"

namespace frostline::eval {
namespace {

/// Failures of the machine, as against wrong input and our own bugs.
bool is_infrastructure(const Error& error) {
  return error.code() == ErrorCode::kDevice || error.code() == ErrorCode::kDeviceLost ||
         error.code() == ErrorCode::kResource;
}

int workers_for(const PoolOptions& options) {
  const auto wanted = options.num_workers > 0
                          ? options.num_workers
                          : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return static_cast<int>(std::min<std::int64_t>(wanted, options.num_slots));
}

}  // namespace

/// Shared with the workers' jobs, so that a hung worker never touches freed memory.
struct EnvironmentPool::State {
  PoolParts parts;
  sim::TaskInfo task;
  std::size_t num_slots = 0;
  std::size_t state_dim = 0;
  std::size_t action_dim = 0;
  std::size_t image_bytes = 0;
  std::vector<std::unique_ptr<sim::Environment>> environments;
  std::vector<std::unique_ptr<sim::Renderer>> renderers;  ///< One a worker.
  std::vector<std::optional<SlotFault>> faults;
  std::vector<std::uint64_t> seeds;
  std::vector<std::uint8_t> is_wanted;
  std::vector<float> states;
  std::vector<float> actions;
  std::vector<std::uint8_t> images;
  std::vector<sim::StepResult> results;
  std::string renderer_version;

  void draw(std::size_t slot, int worker) {
    auto& renderer = renderers[static_cast<std::size_t>(worker)];
    try {
      if (renderer == nullptr) {
        renderer = parts.create_renderer();
      }
      renderer->render(*environments[slot], {&images[slot * image_bytes], image_bytes});
    } catch (const Error& error) {
      if (!is_infrastructure(error)) {
        throw;
      }
      // A lost context stays lost: the next image gets a new one.
      renderer.reset();
      faults[slot] = SlotFault{sim::Fault::kRendering, error.what()};
    }
  }

  void step(std::size_t slot) {
    try {
      results[slot] = environments[slot]->step({&actions[slot * action_dim], action_dim});
    } catch (const Error& error) {
      throw Error(error.code(), error.what(), fmt::format("env_seed={}", seeds[slot]));
    }
    if (results[slot].fault != sim::Fault::kNone) {
      faults[slot] = SlotFault{results[slot].fault,
                               fmt::format("the simulation diverged: env_seed={}", seeds[slot])};
    }
  }
};

PoolParts parts_of_task(const std::string& task_id, const sim::RenderOptions& render) {
  sim::task_info(task_id);
  return {
      .create_environment = [task_id] { return sim::create_environment(task_id); },
      .create_renderer = [task_id, render] { return sim::create_renderer(task_id, render); },
      .height_px = render.height_px,
      .width_px = render.width_px,
  };
}

EnvironmentPool::EnvironmentPool(const PoolParts& parts, const PoolOptions& options)
    : state_(std::make_shared<State>()), workers_(workers_for(options), options.timeout) {
  FROSTLINE_REQUIRE(options.num_slots > 0,
                    ErrorCode::kUsage,
                    "a pool needs at least one slot",
                    fmt::format("slots={}", options.num_slots));
  State& state = *state_;
  state.parts = parts;
  state.num_slots = static_cast<std::size_t>(options.num_slots);
  state.environments.resize(state.num_slots);
  state.renderers.resize(static_cast<std::size_t>(workers_.size()));
  state.faults.resize(state.num_slots);
  state.results.resize(state.num_slots);
  try {
    workers_.run([shared = state_](int worker) {
      const auto index = static_cast<std::size_t>(worker);
      shared->renderers[index] = shared->parts.create_renderer();
      for (std::size_t slot = index; slot < shared->num_slots; slot += shared->renderers.size()) {
        shared->environments[slot] = shared->parts.create_environment();
      }
      if (worker == 0) {
        shared->renderer_version = shared->renderers[0]->version();
      }
    });
  } catch (...) {
    close();
    throw;
  }
  state.task = state.environments.front()->task();
  state.state_dim = static_cast<std::size_t>(state.task.state_dim);
  state.action_dim = static_cast<std::size_t>(state.task.action_dim);
  state.image_bytes = static_cast<std::size_t>(parts.height_px * parts.width_px * 3);
  state.states.resize(state.num_slots * state.state_dim);
  state.images.resize(state.num_slots * state.image_bytes);
}

EnvironmentPool::~EnvironmentPool() {
  close();
}

void EnvironmentPool::close() noexcept {
  // An OpenGL context has to end on its own thread.
  const bool is_closed = workers_.finish([shared = state_](int worker) {
    shared->renderers[static_cast<std::size_t>(worker)].reset();
  });
  if (!is_closed) {
    // A hung worker may still touch it: left behind on purpose.
    static_cast<void>(std::make_unique<std::shared_ptr<State>>(state_).release());
  }
}

const sim::TaskInfo& EnvironmentPool::task() const {
  return state_->task;
}

std::int64_t EnvironmentPool::num_slots() const {
  return static_cast<std::int64_t>(state_->num_slots);
}

std::int64_t EnvironmentPool::height_px() const {
  return state_->parts.height_px;
}

std::int64_t EnvironmentPool::width_px() const {
  return state_->parts.width_px;
}

std::size_t EnvironmentPool::image_bytes() const {
  return state_->image_bytes;
}

const std::string& EnvironmentPool::renderer_version() const {
  return state_->renderer_version;
}

const std::optional<SlotFault>& EnvironmentPool::fault(std::int64_t slot) const {
  return state_->faults.at(static_cast<std::size_t>(slot));
}

void EnvironmentPool::for_each_slot(const std::function<void(State&, std::size_t, int)>& work) {
  workers_.run([shared = state_, work](int worker) {
    for (auto slot = static_cast<std::size_t>(worker); slot < shared->num_slots;
         slot += shared->renderers.size()) {
      work(*shared, slot, worker);
    }
  });
}

void EnvironmentPool::reset(std::span<const std::uint64_t> seeds) {
  FROSTLINE_CHECK(seeds.size() == state_->num_slots);
  state_->seeds.assign(seeds.begin(), seeds.end());
  std::fill(state_->images.begin(), state_->images.end(), std::uint8_t{0});
  for_each_slot([](State& state, std::size_t slot, int) {
    state.environments[slot]->reset(state.seeds[slot]);
    state.faults[slot].reset();
    state.results[slot] = {};
  });
}

std::span<const float> EnvironmentPool::observe() {
  for_each_slot([](State& state, std::size_t slot, int) {
    state.environments[slot]->observe({&state.states[slot * state.state_dim], state.state_dim});
  });
  return state_->states;
}

std::span<const std::uint8_t> EnvironmentPool::render(std::span<const std::uint8_t> is_wanted) {
  FROSTLINE_CHECK(is_wanted.size() == state_->num_slots);
  state_->is_wanted.assign(is_wanted.begin(), is_wanted.end());
  for_each_slot([](State& state, std::size_t slot, int worker) {
    if (state.is_wanted[slot] != 0 && !state.faults[slot]) {
      state.draw(slot, worker);
    }
  });
  return state_->images;
}

std::span<const sim::StepResult> EnvironmentPool::step(std::span<const float> actions,
                                                       std::span<const std::uint8_t> is_wanted) {
  FROSTLINE_CHECK(actions.size() == state_->num_slots * state_->action_dim);
  FROSTLINE_CHECK(is_wanted.size() == state_->num_slots);
  state_->actions.assign(actions.begin(), actions.end());
  state_->is_wanted.assign(is_wanted.begin(), is_wanted.end());
  for_each_slot([](State& state, std::size_t slot, int) {
    if (state.is_wanted[slot] != 0 && !state.faults[slot]) {
      state.step(slot);
    }
  });
  return state_->results;
}

}  // namespace frostline::eval
