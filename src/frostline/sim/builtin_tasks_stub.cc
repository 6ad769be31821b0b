#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/sim/environment.h"

namespace frostline::sim {

std::string mujoco_version() {
  return {};
}

namespace {

[[noreturn]] void refuse(const std::string& task_id) {
  throw Error(ErrorCode::kUnsupported,
              "this build has no simulator",
              fmt::format("task={}; run scripts/setup.sh and build with FROSTLINE_WITH_MUJOCO=ON",
                          task_id));
}

}  // namespace

std::vector<std::string> task_ids() {
  return {};
}

const TaskInfo& task_info(const std::string& id) {
  refuse(id);
}

std::unique_ptr<Environment> create_environment(const std::string& task_id) {
  refuse(task_id);
}

std::unique_ptr<Expert> create_expert(const std::string& task_id, const ExpertOptions&) {
  refuse(task_id);
}

std::unique_ptr<Renderer> create_renderer(const std::string& task_id, const RenderOptions&) {
  refuse(task_id);
}

}  // namespace frostline::sim
