# How modules, programs and tests of this project are declared.
#
#   frostline_module(NAME core SOURCES clock.cc ... [DEPS graph ...]
#                    [THIRD_PARTY targets...] [PUBLIC_THIRD_PARTY targets...] [PCH <header>...])
#     A static library frostline_<name>, alias frostline::<name>. DEPS are names of other modules
#     and are public; THIRD_PARTY is linked privately. Without SOURCES: a header-only module.
#
#   frostline_program(NAME frostline SOURCES ... [MODULES ...] [THIRD_PARTY ...])
#     An executable at the top of the build folder.
#
#   frostline_test(NAME core SOURCES a_test.cc ... [MODULES ...] [THIRD_PARTY ...] [LABELS unit]
#                  [TIMEOUT 120] [PROCESSORS 1] [SKIPPABLE] [PCH <header>...])
#     One executable and one ctest entry with GoogleTest's main: starting a process that loads
#     libtorch costs more than most tests. SKIPPABLE: ctest reports the entry as skipped when any
#     of its tests skipped itself; for entries that need a device or a driver.
#     Tests find FROSTLINE_SOURCE_DIR and FROSTLINE_DEPS_DIR in their environment.

# Checkouts of the same revision in different folders share ccache's results: paths below the
# checkout are hashed relative to it. The sloppiness is what precompiled headers need.
find_program(FROSTLINE_CCACHE ccache)
mark_as_advanced(FROSTLINE_CCACHE)
if(FROSTLINE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
      "CCACHE_SLOPPINESS=pch_defines,time_macros" "${FROSTLINE_CCACHE}")
endif()

function(frostline_set_common_properties target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/src")
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                         $<$<BOOL:${FROSTLINE_WERROR}>:-Werror>)
  if(FROSTLINE_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${FROSTLINE_SANITIZE}
                           -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${FROSTLINE_SANITIZE})
  endif()
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()

function(frostline_link_modules target scope)
  foreach(module IN LISTS ARGN)
    target_link_libraries(${target} ${scope} frostline::${module})
  endforeach()
endfunction()

function(frostline_module)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME"
                        "SOURCES;DEPS;THIRD_PARTY;PUBLIC_THIRD_PARTY;PCH")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "frostline_module(${arg_NAME}): unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target frostline_${arg_NAME})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    frostline_set_common_properties(${target})
    frostline_link_modules(${target} PUBLIC ${arg_DEPS})
    target_link_libraries(${target} PUBLIC ${arg_PUBLIC_THIRD_PARTY} PRIVATE ${arg_THIRD_PARTY})
    if(arg_PCH)
      target_precompile_headers(${target} PRIVATE ${arg_PCH})
    endif()
  else()
    add_library(${target} INTERFACE)
    target_compile_features(${target} INTERFACE cxx_std_20)
    target_include_directories(${target} INTERFACE "${PROJECT_SOURCE_DIR}/src")
    frostline_link_modules(${target} INTERFACE ${arg_DEPS})
    target_link_libraries(${target} INTERFACE ${arg_PUBLIC_THIRD_PARTY})
  endif()
  add_library(frostline::${arg_NAME} ALIAS ${target})
endfunction()

function(frostline_program)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;MODULES;THIRD_PARTY;PCH")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "frostline_program(${arg_NAME}): unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(${arg_NAME} ${arg_SOURCES})
  frostline_set_common_properties(${arg_NAME})
  frostline_link_modules(${arg_NAME} PRIVATE ${arg_MODULES})
  target_link_libraries(${arg_NAME} PRIVATE ${arg_THIRD_PARTY})
  if(arg_PCH)
    target_precompile_headers(${arg_NAME} PRIVATE ${arg_PCH})
  endif()
  set_target_properties(${arg_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
endfunction()

function(frostline_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "SKIPPABLE" "NAME;TIMEOUT;PROCESSORS"
                        "SOURCES;MODULES;THIRD_PARTY;LABELS;PCH")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "frostline_test(${arg_NAME}): unknown: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_PROCESSORS)
    set(arg_PROCESSORS 1)
  endif()
  set(target ${arg_NAME}_test)
  add_executable(${target} ${arg_SOURCES})
  frostline_set_common_properties(${target})
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  frostline_link_modules(${target} PRIVATE ${arg_MODULES})
  target_link_libraries(${target} PRIVATE ${arg_THIRD_PARTY} GTest::gmock_main GTest::gmock
                        GTest::gtest)
  if(arg_PCH)
    target_precompile_headers(${target} PRIVATE ${arg_PCH})
  endif()
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_test(NAME ${arg_NAME} COMMAND ${target})
  # One OpenMP thread: spinning barriers make libtorch several times slower when tests run side by
  # side on few cores.
  set_tests_properties(${arg_NAME} PROPERTIES
    LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_PROCESSORS}
    ENVIRONMENT "FROSTLINE_SOURCE_DIR=${PROJECT_SOURCE_DIR};FROSTLINE_DEPS_DIR=${FROSTLINE_DEPS_DIR};OMP_NUM_THREADS=1")
  if(arg_SKIPPABLE)
    set_tests_properties(${arg_NAME} PROPERTIES SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
  endif()
endfunction()
