#include "tests/power/fake_nvml.h"

#include <cstdint>
#include <cstdio>

// The symbols that NVML exports and meters look up, under its own names.
// NOLINTBEGIN(readability-identifier-naming)

namespace {

FakeNvmlState state;

unsigned index_of(const void* device) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device)) - 1;
}

}  // namespace

extern "C" {

FakeNvmlState* fake_nvml_state() {
  return &state;
}

int nvmlInit_v2() {
  if (state.init_code == 0) {
    ++state.live_initialisations;
  }
  return state.init_code;
}

int nvmlShutdown() {
  --state.live_initialisations;
  return 0;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = state.count;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = reinterpret_cast<void*>(static_cast<std::uintptr_t>(index) + 1);
  return 0;
}

int nvmlDeviceGetName(void* /*device*/, char* name, unsigned length) {
  std::snprintf(name, length, "Fake Board");
  return 0;
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
  std::snprintf(uuid, length, "GPU-fake-%u", index_of(device));
  return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* energy_mj) {
  const unsigned index = index_of(device);
  *energy_mj = state.energy_mj[index];
  return state.energy_code[index];
}

const char* nvmlErrorString(int code) {
  return code == 4 ? "Insufficient Permissions" : "Failure";
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
