# Finds every third-party library once and gives each an imported target. SDKs are optional; the
# others are packages of the distribution.
#
#   frostline::version   frostline/version.h, made from the project's version
#   frostline::features  the macros FROSTLINE_WITH_<SDK> as 0 or 1
#   frostline::torch, frostline::arrow, frostline::mujoco, openvino::runtime, frostline::ffmpeg,
#   frostline::hdf5, frostline::egl, CUDA::cudart (only with the option of the same name)
#   frostline::protozero, frostline::tomlplusplus, nlohmann_json::nlohmann_json, spdlog::spdlog,
#   fmt::fmt, CLI11::CLI11, ZLIB::ZLIB, Threads::Threads

set(FROSTLINE_DEPS_DIR "${PROJECT_SOURCE_DIR}/.deps" CACHE PATH
    "Where scripts/setup.sh unpacked the pinned wheels")

configure_file("${PROJECT_SOURCE_DIR}/cmake/version.h.in"
               "${PROJECT_BINARY_DIR}/generated/frostline/version.h" @ONLY)
add_library(frostline_version INTERFACE)
target_include_directories(frostline_version INTERFACE "${PROJECT_BINARY_DIR}/generated")
add_library(frostline::version ALIAS frostline_version)

add_library(frostline_features INTERFACE)
foreach(sdk IN ITEMS TORCH OPENVINO MUJOCO ARROW FFMPEG HDF5 CUDA)
  target_compile_definitions(frostline_features INTERFACE
                             FROSTLINE_WITH_${sdk}=$<BOOL:${FROSTLINE_WITH_${sdk}}>)
endforeach()
add_library(frostline::features ALIAS frostline_features)

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)

# The distributions build toml++ as a library too; header-only needs no run-time package.
find_path(FROSTLINE_TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
add_library(frostline_tomlplusplus INTERFACE)
target_include_directories(frostline_tomlplusplus SYSTEM INTERFACE
                           "${FROSTLINE_TOMLPLUSPLUS_INCLUDE_DIR}")
target_compile_definitions(frostline_tomlplusplus INTERFACE TOML_HEADER_ONLY=1)
add_library(frostline::tomlplusplus ALIAS frostline_tomlplusplus)

find_path(FROSTLINE_PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp REQUIRED)
add_library(frostline_protozero INTERFACE)
target_include_directories(frostline_protozero SYSTEM INTERFACE
                           "${FROSTLINE_PROTOZERO_INCLUDE_DIR}")
add_library(frostline::protozero ALIAS frostline_protozero)

if(FROSTLINE_BUILD_TESTS)
  find_package(GTest CONFIG REQUIRED)
endif()
if(FROSTLINE_BUILD_BENCH)
  find_package(benchmark REQUIRED)
endif()

if(FROSTLINE_WITH_CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()
if(FROSTLINE_WITH_TORCH)
  find_package(FrostlineTorch REQUIRED)
endif()
if(FROSTLINE_WITH_ARROW)
  find_package(FrostlineArrow REQUIRED)
endif()
if(FROSTLINE_WITH_MUJOCO)
  find_package(FrostlineMujoco REQUIRED)
  pkg_check_modules(FROSTLINE_EGL REQUIRED IMPORTED_TARGET egl)
  add_library(frostline_egl INTERFACE)
  target_link_libraries(frostline_egl INTERFACE PkgConfig::FROSTLINE_EGL)
  add_library(frostline::egl ALIAS frostline_egl)
endif()
if(FROSTLINE_WITH_OPENVINO)
  set(FROSTLINE_OPENVINO_ROOT "${FROSTLINE_DEPS_DIR}/openvino/openvino" CACHE PATH
      "OpenVINO: a folder that holds cmake/OpenVINOConfig.cmake")
  find_package(OpenVINO REQUIRED COMPONENTS Runtime ONNX NO_DEFAULT_PATH
               PATHS "${FROSTLINE_OPENVINO_ROOT}" PATH_SUFFIXES cmake runtime/cmake)
endif()
if(FROSTLINE_WITH_FFMPEG)
  pkg_check_modules(FROSTLINE_FFMPEG REQUIRED IMPORTED_TARGET libavformat libavcodec libswscale
                    libavutil)
  add_library(frostline_ffmpeg INTERFACE)
  target_link_libraries(frostline_ffmpeg INTERFACE PkgConfig::FROSTLINE_FFMPEG)
  add_library(frostline::ffmpeg ALIAS frostline_ffmpeg)
endif()
if(FROSTLINE_WITH_HDF5)
  # The project has no C sources, so the module's own way (asking the C wrapper) is not open.
  pkg_check_modules(FROSTLINE_HDF5 REQUIRED IMPORTED_TARGET hdf5)
  add_library(frostline_hdf5 INTERFACE)
  target_link_libraries(frostline_hdf5 INTERFACE PkgConfig::FROSTLINE_HDF5)
  add_library(frostline::hdf5 ALIAS frostline_hdf5)
endif()
