#include "frostline/study/versions.h"

#include <string>

#include <torch/version.h>

#include "frostline/accel/backend.h"
#include "frostline/data/library_versions.h"
#include "frostline/sim/environment.h"

namespace frostline::study {

namespace {

Json or_null(const std::string& version) {
  return version.empty() ? Json() : Json(version);
}

}  // namespace

Json library_versions() {
  Json versions = {{"libtorch", TORCH_VERSION},
                   {"mujoco", or_null(sim::mujoco_version())},
                   {"arrow", or_null(data::arrow_version())},
                   {"ffmpeg", or_null(data::ffmpeg_version())}};
  for (const auto& backend : accel::builtin_backends()) {
    versions[backend->name()] = or_null(backend->version());
  }
  return versions;
}

}  // namespace frostline::study
