/// A library that has none of the symbols that meters look up.
extern "C" int empty_nvml() {
  return 0;
}
