#pragma once

#include <memory>
#include <string>

namespace frostline::power {

/// The few functions of NVIDIA's management library that meters need, opened at run time. The
/// library is initialised while the object lives. Thread-safe, as NVML is.
///
/// Source: NVML API Reference; the declarations follow its stable binary interface.
class NvmlLibrary {
 public:
  using Device = struct OpaqueDevice*;
  static constexpr int kSuccess = 0;
  static constexpr int kNoPermission = 4;

  /// Opens and initialises `name`. Returns null with the reason in `problem`; `is_missing` tells a
  /// library that is not installed from one that fails.
  static std::shared_ptr<const NvmlLibrary> open(const std::string& name,
                                                 std::string& problem,
                                                 bool& is_missing);

  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;
  NvmlLibrary(NvmlLibrary&&) = delete;
  NvmlLibrary& operator=(NvmlLibrary&&) = delete;
  ~NvmlLibrary();

  int count(unsigned* count) const { return count_(count); }

  int handle(unsigned index, Device* device) const { return handle_(index, device); }

  std::string name(Device device) const;
  std::string uuid(Device device) const;

  /// Units: mJ since the driver was loaded.
  int total_energy_mj(Device device, unsigned long long* energy) const {
    return energy_(device, energy);
  }

  std::string describe(int code) const;

 private:
  NvmlLibrary() = default;

  std::string resolve(void* library);
  std::string text(int (*get)(Device, char*, unsigned), Device device) const;

  void* library_ = nullptr;
  int (*init_)() = nullptr;
  int (*shutdown_)() = nullptr;
  int (*count_)(unsigned*) = nullptr;
  int (*handle_)(unsigned, Device*) = nullptr;
  int (*name_)(Device, char*, unsigned) = nullptr;
  int (*uuid_)(Device, char*, unsigned) = nullptr;
  int (*energy_)(Device, unsigned long long*) = nullptr;
  const char* (*error_string_)(int) = nullptr;
  bool is_initialised_ = false;
};

}  // namespace frostline::power
