# Finds Arrow and Parquet in a pyarrow wheel and makes the target frostline::arrow.
#
# FROSTLINE_ARROW_ROOT: a folder that holds pyarrow/ (.deps/pyarrow, or a Python's site-packages),
# or the pyarrow folder itself. The wheel carries the libraries only under their versioned names
# (libarrow.so.2600), one version a wheel.

set(FROSTLINE_ARROW_ROOT "${FROSTLINE_DEPS_DIR}/pyarrow" CACHE PATH
    "Arrow: a folder that holds pyarrow/, such as a Python's site-packages")

find_path(FROSTLINE_ARROW_DIR include/parquet/arrow/reader.h
          HINTS "${FROSTLINE_ARROW_ROOT}/pyarrow" "${FROSTLINE_ARROW_ROOT}" NO_DEFAULT_PATH)
foreach(_library IN ITEMS arrow parquet)
  file(GLOB _found LIST_DIRECTORIES false "${FROSTLINE_ARROW_DIR}/lib${_library}.so.[0-9]*")
  list(FILTER _found EXCLUDE REGEX "\\.so\\.[0-9]+\\.")
  list(LENGTH _found _num_found)
  set(_${_library}_library "")
  if(_num_found EQUAL 1)
    set(_${_library}_library "${_found}")
  endif()
endforeach()
if(EXISTS "${FROSTLINE_ARROW_DIR}/include/arrow/util/config.h")
  file(STRINGS "${FROSTLINE_ARROW_DIR}/include/arrow/util/config.h" _version
       REGEX "define ARROW_VERSION_STRING")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" FrostlineArrow_VERSION "${_version}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  FrostlineArrow REQUIRED_VARS FROSTLINE_ARROW_DIR _arrow_library _parquet_library
  VERSION_VAR FrostlineArrow_VERSION
  REASON_FAILURE_MESSAGE "run scripts/setup.sh, give -DFROSTLINE_ARROW_ROOT=DIR, or build without it: -DFROSTLINE_WITH_ARROW=OFF")

if(FrostlineArrow_FOUND AND NOT TARGET frostline::arrow)
  foreach(_library IN ITEMS arrow parquet)
    add_library(frostline::${_library}_shared SHARED IMPORTED)
    set_target_properties(frostline::${_library}_shared PROPERTIES
      IMPORTED_LOCATION "${_${_library}_library}"
      INTERFACE_INCLUDE_DIRECTORIES "${FROSTLINE_ARROW_DIR}/include")
  endforeach()
  add_library(frostline::arrow INTERFACE IMPORTED)
  target_link_libraries(frostline::arrow INTERFACE frostline::parquet_shared
                        frostline::arrow_shared)
endif()
