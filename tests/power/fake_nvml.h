#pragma once

/// What the fake management library answers; a test gets it with `dlsym(…, "fake_nvml_state")`.
struct FakeNvmlState {
  int init_code = 0;
  unsigned count = 1;
  int energy_code[4] = {};
  unsigned long long energy_mj[4] = {};
  int live_initialisations = 0;
};

extern "C" FakeNvmlState* fake_nvml_state();
