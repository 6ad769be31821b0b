#include "frostline/sim/mujoco_renderer.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "frostline/core/error.h"
#include "frostline/sim/egl_context.h"

namespace frostline::sim {
namespace {

constexpr int kMaxGeoms = 1000;
constexpr int kMaxSize_px = 8192;

std::string camera_names(const mjModel& model) {
  std::string names;
  for (int i = 0; i < model.ncam; ++i) {
    names += (i == 0 ? "" : ", ") + std::string(mj_id2name(&model, mjOBJ_CAMERA, i));
  }
  return names;
}

/// MuJoCo's errors inside drawing mean that OpenGL failed.
template <class Work>
void as_device_error(const char* what, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInternal) {
      throw;
    }
    throw Error(ErrorCode::kDevice, what, error.what());
  }
}

class MujocoRenderer final : public Renderer {
 public:
  MujocoRenderer(std::shared_ptr<const mjModel> model, const RenderOptions& options)
      : model_(std::move(model)), options_(options), view_(*model_) {
    const int camera = mj_name2id(model_.get(), mjOBJ_CAMERA, options.camera.c_str());
    FROSTLINE_REQUIRE(camera >= 0,
                      ErrorCode::kUsage,
                      "the scene has no such camera",
                      fmt::format("camera={} known={}", options.camera, camera_names(*model_)));
    FROSTLINE_REQUIRE(options.height_px > 0 && options.width_px > 0 &&
                          options.height_px <= kMaxSize_px && options.width_px <= kMaxSize_px,
                      ErrorCode::kUsage,
                      "the image size is out of range",
                      fmt::format("height_px={} width_px={} largest={}",
                                  options.height_px,
                                  options.width_px,
                                  kMaxSize_px));
    context_ = std::make_unique<EglContext>();
    camera_.type = mjCAMERA_FIXED;
    camera_.fixedcamid = camera;
    view_.vis.global.offwidth = options.width_px;
    view_.vis.global.offheight = options.height_px;
    view_.vis.quality.offsamples = options.num_samples;
    if (!options.has_shadows) {
      view_.vis.quality.shadowsize = 0;
    }
    make_drawing();
    rows_.resize(num_bytes());
  }

  MujocoRenderer(const MujocoRenderer&) = delete;
  MujocoRenderer& operator=(const MujocoRenderer&) = delete;
  MujocoRenderer(MujocoRenderer&&) = delete;
  MujocoRenderer& operator=(MujocoRenderer&&) = delete;

  ~MujocoRenderer() override {
    mjr_freeContext(&drawing_);
    mjv_freeScene(&scene_);
  }

  void render(const Environment& environment, std::span<std::uint8_t> out) override {
    FROSTLINE_CHECK(std::this_thread::get_id() == thread_);
    const auto* simulated = dynamic_cast<const MujocoEnvironment*>(&environment);
    FROSTLINE_REQUIRE(simulated != nullptr && &simulated->model() == model_.get(),
                      ErrorCode::kUsage,
                      "the environment belongs to another task's scene",
                      fmt::format("task={}", environment.task().id));
    FROSTLINE_REQUIRE(out.size() == num_bytes(),
                      ErrorCode::kUsage,
                      "the image buffer has the wrong size",
                      fmt::format("bytes={} needed={}", out.size(), num_bytes()));
    as_device_error("rendering failed", [&] { draw(simulated->scene_data()); });
    flip_into(out);
  }

  std::string version() const override {
    return fmt::format("{} / MuJoCo {} / {} samples{}",
                       context_->version(),
                       mujoco_version(),
                       drawing_.offSamples,
                       options_.has_shadows ? " / shadows" : "");
  }

 private:
  std::size_t num_bytes() const {
    return static_cast<std::size_t>(options_.height_px) *
           static_cast<std::size_t>(options_.width_px) * 3;
  }

  void make_drawing() {
    mjv_defaultOption(&visible_);
    mjv_defaultScene(&scene_);
    mjr_defaultContext(&drawing_);
    try {
      as_device_error("the renderer cannot be set up", [&] {
        mjv_makeScene(&view_, &scene_, kMaxGeoms);
        mjr_makeContext(&view_, &drawing_, mjFONTSCALE_100);
        mjr_setBuffer(mjFB_OFFSCREEN, &drawing_);
      });
      FROSTLINE_REQUIRE(drawing_.currentBuffer == mjFB_OFFSCREEN,
                        ErrorCode::kDevice,
                        "OpenGL offers no off-screen buffer",
                        context_->version());
    } catch (...) {
      mjr_freeContext(&drawing_);
      mjv_freeScene(&scene_);
      throw;
    }
    scene_.flags[mjRND_SHADOW] = options_.has_shadows ? 1 : 0;
    scene_.flags[mjRND_REFLECTION] = options_.has_shadows ? 1 : 0;
  }

  void draw(mjData& data) {
    context_->make_current();
    mjv_updateScene(&view_, &data, &visible_, nullptr, &camera_, mjCAT_ALL, &scene_);
    FROSTLINE_CHECK(scene_.ngeom < kMaxGeoms);
    const mjrRect area = {0, 0, options_.width_px, options_.height_px};
    mjr_render(area, &scene_, &drawing_);
    mjr_readPixels(rows_.data(), nullptr, area, &drawing_);
    const int gl_error = mjr_getError();
    FROSTLINE_REQUIRE(gl_error == 0,
                      ErrorCode::kDevice,
                      "rendering failed",
                      fmt::format("OpenGL error 0x{:04x} on {}", gl_error, context_->version()));
  }

  /// OpenGL gives the bottom row first.
  void flip_into(std::span<std::uint8_t> out) const {
    const auto row = static_cast<std::ptrdiff_t>(options_.width_px) * 3;
    for (std::ptrdiff_t y = 0; y < options_.height_px; ++y) {
      std::copy_n(rows_.begin() + (options_.height_px - 1 - y) * row, row, out.begin() + y * row);
    }
  }

  std::shared_ptr<const mjModel> model_;
  RenderOptions options_;
  /// Shares the arrays of `model_`, which owns them; only the drawing settings differ.
  mjModel view_;
  std::unique_ptr<EglContext> context_;
  std::thread::id thread_ = std::this_thread::get_id();
  mjvCamera camera_{};
  mjvOption visible_{};
  mjvScene scene_{};
  mjrContext drawing_{};
  std::vector<std::uint8_t> rows_;
};

}  // namespace

std::unique_ptr<Renderer> create_mujoco_renderer(std::shared_ptr<const mjModel> model,
                                                 const RenderOptions& options) {
  return std::make_unique<MujocoRenderer>(std::move(model), options);
}

}  // namespace frostline::sim
