#include <array>
#include <filesystem>
#include <string>

#include <unistd.h>

#include <gtest/gtest.h>
#include <hdf5.h>

namespace {

TEST(Hdf5, ReadsBackADataSet) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("frostline_hdf5_" + std::to_string(getpid()) + ".hdf5"))
                               .string();
  const std::array<float, 6> written = {0.0F, 1.0F, 2.0F, 3.0F, 4.0F, 5.0F};
  const std::array<hsize_t, 2> shape = {2, 3};
  {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(file, 0);
    const hid_t space = H5Screate_simple(2, shape.data(), nullptr);
    const hid_t set =
        H5Dcreate2(file, "action", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, written.data()), 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Fclose(file);
  }
  std::array<float, 6> read{};
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const hid_t set = H5Dopen2(file, "action", H5P_DEFAULT);
  EXPECT_GE(H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, read.data()), 0);
  H5Dclose(set);
  H5Fclose(file);
  EXPECT_EQ(read, written);
  std::filesystem::remove(path);
}

}  // namespace
