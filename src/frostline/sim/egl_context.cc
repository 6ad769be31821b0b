#include "frostline/sim/egl_context.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <fmt/format.h>

#include "frostline/core/error.h"

namespace frostline::sim {
namespace {

constexpr std::string_view kRemedy =
    "install Mesa's EGL (Debian: libegl1 libegl-mesa0 libgl1-mesa-dri) or the EGL of the GPU's "
    "driver; FROSTLINE_EGL_DEVICE picks a device by its index";

std::string egl_error() {
  return fmt::format("EGL error 0x{:04x}", eglGetError());
}

template <class Function>
Function egl_function(const char* name) {
  return reinterpret_cast<Function>(eglGetProcAddress(name));
}

bool has_extension(const char* extensions, std::string_view name) {
  return extensions != nullptr && std::string_view(extensions).find(name) != std::string_view::npos;
}

std::vector<EGLDeviceEXT> list_devices() {
  const auto query = egl_function<PFNEGLQUERYDEVICESEXTPROC>("eglQueryDevicesEXT");
  EGLint count = 0;
  if (query == nullptr || query(0, nullptr, &count) != EGL_TRUE || count <= 0) {
    return {};
  }
  std::vector<EGLDeviceEXT> devices(static_cast<std::size_t>(count));
  if (query(count, devices.data(), &count) != EGL_TRUE) {
    return {};
  }
  devices.resize(static_cast<std::size_t>(count));
  return devices;
}

bool is_nvidia(EGLDeviceEXT device) {
  const auto query = egl_function<PFNEGLQUERYDEVICESTRINGEXTPROC>("eglQueryDeviceStringEXT");
  return query != nullptr && has_extension(query(device, EGL_EXTENSIONS), "EGL_NV_device_cuda");
}

/// A display that is initialised and the configuration used on it.
struct Display {
  EGLDisplay display = EGL_NO_DISPLAY;
  EGLConfig config = nullptr;
  std::string reason;  ///< Why there is none.
};

EGLContext create_context(const Display& display) {
  eglBindAPI(EGL_OPENGL_API);
  return eglCreateContext(display.display, display.config, EGL_NO_CONTEXT, nullptr);
}

/// Initialises a display and proves that a context can be made current on it.
Display probe(EGLenum platform, void* native, const std::string& name) {
  Display result;
  const auto get = egl_function<PFNEGLGETPLATFORMDISPLAYEXTPROC>("eglGetPlatformDisplayEXT");
  const auto fail = [&](std::string_view what) {
    result.reason = fmt::format("{}: {} ({})", name, what, egl_error());
    return result;
  };
  if (get == nullptr) {
    return fail("EGL_EXT_platform_base is missing");
  }
  const EGLDisplay display = get(platform, native, nullptr);
  if (display == EGL_NO_DISPLAY) {
    return fail("no display");
  }
  if (eglInitialize(display, nullptr, nullptr) != EGL_TRUE) {
    return fail("cannot be initialised");
  }
  const std::array<EGLint, 5> wanted = {
      EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  EGLint count = 0;
  Display candidate;
  candidate.display = display;
  if (eglChooseConfig(display, wanted.data(), &candidate.config, 1, &count) != EGL_TRUE ||
      count == 0) {
    return fail("no configuration with OpenGL");
  }
  EGLContext context = create_context(candidate);
  if (context == EGL_NO_CONTEXT) {
    return fail("no OpenGL context");
  }
  const bool is_usable =
      eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) == EGL_TRUE;
  eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  eglDestroyContext(display, context);
  return is_usable ? candidate : fail("a context without a surface is refused");
}

Display find_display() {
  std::string reasons;
  const auto attempt = [&reasons](EGLenum platform, void* native, const std::string& name) {
    Display display = probe(platform, native, name);
    if (display.display == EGL_NO_DISPLAY) {
      reasons += (reasons.empty() ? "" : "; ") + display.reason;
    }
    return display;
  };
  const std::vector<EGLDeviceEXT> devices = list_devices();
  const auto name_of = [](std::size_t index) { return fmt::format("device {}", index); };

  const char* wanted = std::getenv("FROSTLINE_EGL_DEVICE");
  if (wanted != nullptr && *wanted != '\0') {
    char* end = nullptr;
    const unsigned long index = std::strtoul(wanted, &end, 10);
    FROSTLINE_REQUIRE(*end == '\0' && index < devices.size(),
                      ErrorCode::kDevice,
                      "FROSTLINE_EGL_DEVICE names no EGL device",
                      fmt::format("value='{}' devices={}", wanted, devices.size()));
    Display display = attempt(EGL_PLATFORM_DEVICE_EXT, devices[index], name_of(index));
    display.reason = reasons;
    return display;
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (is_nvidia(devices[i])) {
      Display display = attempt(EGL_PLATFORM_DEVICE_EXT, devices[i], name_of(i));
      if (display.display != EGL_NO_DISPLAY) {
        return display;
      }
    }
  }
  Display display = attempt(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, "surfaceless");
  for (std::size_t i = 0; i < devices.size() && display.display == EGL_NO_DISPLAY; ++i) {
    display = attempt(EGL_PLATFORM_DEVICE_EXT, devices[i], name_of(i));
  }
  display.reason = reasons;
  return display;
}

/// The one display of this process, initialised once and never terminated: eglTerminate would
/// take it from every other user.
const Display& process_display() {
  static const Display display = [] {
    // llvmpipe starts one rasteriser thread a core for the display; the renderers' own threads
    // already fill the cores.
    setenv("LP_NUM_THREADS", "0", 0);
    return find_display();
  }();
  return display;
}

}  // namespace

EglContext::EglContext() : context_(EGL_NO_CONTEXT) {
  const Display& display = process_display();
  FROSTLINE_REQUIRE(display.display != EGL_NO_DISPLAY,
                    ErrorCode::kDevice,
                    "no OpenGL context can be made for rendering",
                    fmt::format("tried: {}; {}", display.reason, kRemedy));
  context_ = create_context(display);
  FROSTLINE_REQUIRE(context_ != EGL_NO_CONTEXT,
                    ErrorCode::kDevice,
                    "no OpenGL context can be made for rendering",
                    fmt::format("{}; {}", egl_error(), kRemedy));
  make_current();
}

EglContext::~EglContext() {
  const EGLDisplay display = process_display().display;
  if (eglGetCurrentContext() == context_) {
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  }
  eglDestroyContext(display, context_);
}

void EglContext::make_current() {
  if (eglGetCurrentContext() == context_) {
    return;
  }
  eglBindAPI(EGL_OPENGL_API);
  FROSTLINE_REQUIRE(
      eglMakeCurrent(process_display().display, EGL_NO_SURFACE, EGL_NO_SURFACE, context_) ==
          EGL_TRUE,
      ErrorCode::kDevice,
      "the OpenGL context cannot be made current",
      egl_error());
}

std::string EglContext::version() const {
  constexpr unsigned kVendor = 0x1F00;
  constexpr unsigned kRenderer = 0x1F01;
  constexpr unsigned kVersion = 0x1F02;
  const auto get = egl_function<const unsigned char* (*)(unsigned)>("glGetString");
  FROSTLINE_REQUIRE(get != nullptr, ErrorCode::kDevice, "EGL does not give glGetString", kRemedy);
  const auto text = [&get](unsigned name) {
    const unsigned char* value = get(name);
    return value == nullptr ? std::string("unknown")
                            : std::string(reinterpret_cast<const char*>(value));
  };
  return fmt::format("{} / {} / OpenGL {}", text(kVendor), text(kRenderer), text(kVersion));
}

}  // namespace frostline::sim
