#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/support/temp_folder.h"

namespace frostline::test {

/// A powercap tree in a temporary folder.
class FakePowercap {
 public:
  void add_zone(std::string_view zone,
                std::string_view name,
                std::uint64_t range_uj,
                std::uint64_t count_uj) {
    std::filesystem::create_directories(path() / zone);
    write(path() / zone / "name", std::string(name));
    write(path() / zone / "max_energy_range_uj", std::to_string(range_uj));
    set(zone, count_uj);
  }

  void set(std::string_view zone, std::uint64_t count_uj) {
    write(path() / zone / "energy_uj", std::to_string(count_uj));
  }

  static void write(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::trunc) << text << '\n';
  }

  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TempFolder folder_;
};

}  // namespace frostline::test
