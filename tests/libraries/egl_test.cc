#include <array>
#include <cstdint>
#include <vector>

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <gtest/gtest.h>

namespace {

template <class Function>
Function load(const char* name) {
  auto function = reinterpret_cast<Function>(eglGetProcAddress(name));
  EXPECT_NE(function, nullptr) << name;
  return function;
}

/// The surfaceless display, which Mesa offers, then that of each device, which NVIDIA offers.
std::vector<EGLDisplay> headless_displays() {
  std::vector<EGLDisplay> displays = {
      eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr)};
  const auto query_devices =
      reinterpret_cast<PFNEGLQUERYDEVICESEXTPROC>(eglGetProcAddress("eglQueryDevicesEXT"));
  std::array<EGLDeviceEXT, 16> devices{};
  EGLint num_devices = 0;
  if (query_devices != nullptr &&
      query_devices(static_cast<EGLint>(devices.size()), devices.data(), &num_devices) ==
          EGL_TRUE) {
    for (EGLint i = 0; i < num_devices; ++i) {
      displays.push_back(eglGetPlatformDisplay(
          EGL_PLATFORM_DEVICE_EXT, devices[static_cast<std::size_t>(i)], nullptr));
    }
  }
  return displays;
}

/// Owns a desktop OpenGL context without any window or surface.
class SurfacelessContext {
 public:
  SurfacelessContext() {
    for (EGLDisplay display : headless_displays()) {
      if (display != EGL_NO_DISPLAY && eglInitialize(display, nullptr, nullptr) == EGL_TRUE) {
        display_ = display;
        break;
      }
    }
    if (display_ == EGL_NO_DISPLAY) {
      reason_ = "no headless EGL display";
      return;
    }
    // Unless told otherwise EGL asks for window support, which no surfaceless configuration has.
    const std::array<EGLint, 5> attributes = {
        EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    EGLConfig config = nullptr;
    EGLint num_configs = 0;
    eglBindAPI(EGL_OPENGL_API);
    if (eglChooseConfig(display_, attributes.data(), &config, 1, &num_configs) != EGL_TRUE ||
        num_configs == 0) {
      reason_ = "no EGL configuration renders OpenGL";
      return;
    }
    context_ = eglCreateContext(display_, config, EGL_NO_CONTEXT, nullptr);
    if (context_ == EGL_NO_CONTEXT ||
        eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_) != EGL_TRUE) {
      reason_ = "no OpenGL context without a surface";
    }
  }

  SurfacelessContext(const SurfacelessContext&) = delete;
  SurfacelessContext& operator=(const SurfacelessContext&) = delete;

  ~SurfacelessContext() {
    if (display_ != EGL_NO_DISPLAY) {
      eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
      eglTerminate(display_);
    }
  }

  /// Null when the context is usable.
  const char* reason() const { return reason_; }

 private:
  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLContext context_ = EGL_NO_CONTEXT;
  const char* reason_ = nullptr;
};

TEST(Egl, ClearsAFramebufferWithoutASurface) {
  const SurfacelessContext context;
  if (context.reason() != nullptr) {
    GTEST_SKIP() << context.reason();
  }
  GLuint framebuffer = 0;
  GLuint colour = 0;
  load<PFNGLGENFRAMEBUFFERSPROC>("glGenFramebuffers")(1, &framebuffer);
  load<PFNGLBINDFRAMEBUFFERPROC>("glBindFramebuffer")(GL_FRAMEBUFFER, framebuffer);
  load<PFNGLGENRENDERBUFFERSPROC>("glGenRenderbuffers")(1, &colour);
  load<PFNGLBINDRENDERBUFFERPROC>("glBindRenderbuffer")(GL_RENDERBUFFER, colour);
  load<PFNGLRENDERBUFFERSTORAGEPROC>("glRenderbufferStorage")(GL_RENDERBUFFER, GL_RGBA8, 4, 4);
  load<PFNGLFRAMEBUFFERRENDERBUFFERPROC>("glFramebufferRenderbuffer")(
      GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, colour);
  ASSERT_EQ(load<PFNGLCHECKFRAMEBUFFERSTATUSPROC>("glCheckFramebufferStatus")(GL_FRAMEBUFFER),
            static_cast<GLenum>(GL_FRAMEBUFFER_COMPLETE));

  const auto* renderer = load<const GLubyte* (*)(GLenum)>("glGetString")(GL_RENDERER);
  ASSERT_NE(renderer, nullptr);
  RecordProperty("renderer", reinterpret_cast<const char*>(renderer));
  load<void (*)(GLfloat, GLfloat, GLfloat, GLfloat)>("glClearColor")(0.2F, 0.4F, 0.6F, 1.0F);
  load<void (*)(GLbitfield)>("glClear")(GL_COLOR_BUFFER_BIT);
  std::array<std::uint8_t, 4> pixel{};
  load<void (*)(GLint, GLint, GLsizei, GLsizei, GLenum, GLenum, void*)>("glReadPixels")(
      1, 1, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel.data());
  EXPECT_EQ(pixel, (std::array<std::uint8_t, 4>{51, 102, 153, 255}));
}

}  // namespace
