#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/sim/environment.h"
#include "frostline/sim/mujoco_renderer.h"
#include "frostline/sim/tasks/transfer_cube.h"
#include "frostline/sim/tasks/transfer_cube_expert.h"

namespace frostline::sim {
namespace {

/// How the parts of a task are made.
struct TaskEntry {
  const TaskInfo& (*info)();
  std::unique_ptr<Environment> (*create_environment)();
  std::unique_ptr<Expert> (*create_expert)(const ExpertOptions&);
  std::shared_ptr<const mjModel> (*model)();
};

std::unique_ptr<Expert> create_default_transfer_cube_expert(const ExpertOptions& options) {
  return create_transfer_cube_expert({.general = options});
}

constexpr std::array<TaskEntry, 1> kTasks = {{
    {TransferCube::info,
     create_transfer_cube,
     create_default_transfer_cube_expert,
     transfer_cube_model},
}};

const TaskEntry& find_task(const std::string& id) {
  const auto entry = std::find_if(kTasks.begin(), kTasks.end(), [&id](const TaskEntry& candidate) {
    return candidate.info().id == id;
  });
  FROSTLINE_REQUIRE(entry != kTasks.end(),
                    ErrorCode::kUsage,
                    "there is no such task",
                    fmt::format("task={} known={}", id, fmt::join(task_ids(), ", ")));
  return *entry;
}

}  // namespace

std::vector<std::string> task_ids() {
  std::vector<std::string> ids;
  for (const TaskEntry& entry : kTasks) {
    ids.push_back(entry.info().id);
  }
  return ids;
}

const TaskInfo& task_info(const std::string& id) {
  return find_task(id).info();
}

std::unique_ptr<Environment> create_environment(const std::string& task_id) {
  return find_task(task_id).create_environment();
}

std::unique_ptr<Expert> create_expert(const std::string& task_id, const ExpertOptions& options) {
  return find_task(task_id).create_expert(options);
}

std::unique_ptr<Renderer> create_renderer(const std::string& task_id,
                                          const RenderOptions& options) {
  return create_mujoco_renderer(find_task(task_id).model(), options);
}

}  // namespace frostline::sim
