#pragma once

#include <string>

namespace frostline::sim {

/// An OpenGL context without a window, current on the thread that made it. One thread.
///
/// Which display: `$FROSTLINE_EGL_DEVICE` (an index into the devices EGL lists) when set; else the
/// first NVIDIA device; else Mesa's surfaceless platform; else any device that works.
class EglContext {
 public:
  /// Errors: `kDevice` naming every display that was tried, why it failed, and the remedy.
  EglContext();
  EglContext(const EglContext&) = delete;
  EglContext& operator=(const EglContext&) = delete;
  EglContext(EglContext&&) = delete;
  EglContext& operator=(EglContext&&) = delete;
  ~EglContext();

  /// Errors: `kDevice` when EGL refuses.
  void make_current();

  /// Vendor, renderer and version of the OpenGL in use.
  std::string version() const;

 private:
  void* context_;  ///< EGLContext, not named here so that EGL stays out of headers.
};

}  // namespace frostline::sim
