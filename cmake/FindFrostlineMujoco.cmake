# Finds MuJoCo in its Python wheel and makes the target frostline::mujoco.
#
# FROSTLINE_MUJOCO_ROOT: a folder that holds mujoco/ (.deps/mujoco, or a Python's site-packages), or
# the mujoco folder itself. The wheel carries the library only as libmujoco.so.<version>.

set(FROSTLINE_MUJOCO_ROOT "${FROSTLINE_DEPS_DIR}/mujoco" CACHE PATH
    "MuJoCo: a folder that holds mujoco/, such as a Python's site-packages")

find_path(FROSTLINE_MUJOCO_DIR include/mujoco/mujoco.h
          HINTS "${FROSTLINE_MUJOCO_ROOT}/mujoco" "${FROSTLINE_MUJOCO_ROOT}" NO_DEFAULT_PATH)
file(GLOB _mujoco_library LIST_DIRECTORIES false "${FROSTLINE_MUJOCO_DIR}/libmujoco.so.[0-9]*"
     "${FROSTLINE_MUJOCO_DIR}/lib/libmujoco.so.[0-9]*")
list(LENGTH _mujoco_library _num_found)
if(NOT _num_found EQUAL 1)
  set(_mujoco_library "")
endif()
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+$" FrostlineMujoco_VERSION "${_mujoco_library}")

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  FrostlineMujoco REQUIRED_VARS FROSTLINE_MUJOCO_DIR _mujoco_library
  VERSION_VAR FrostlineMujoco_VERSION
  REASON_FAILURE_MESSAGE "run scripts/setup.sh, give -DFROSTLINE_MUJOCO_ROOT=DIR, or build without it: -DFROSTLINE_WITH_MUJOCO=OFF")

if(FrostlineMujoco_FOUND AND NOT TARGET frostline::mujoco)
  add_library(frostline::mujoco SHARED IMPORTED)
  set_target_properties(frostline::mujoco PROPERTIES
    IMPORTED_LOCATION "${_mujoco_library}"
    INTERFACE_INCLUDE_DIRECTORIES "${FROSTLINE_MUJOCO_DIR}/include")
endif()
