# Finds libtorch as its Python wheel lays it out and makes the target frostline::torch.
#
# FROSTLINE_TORCH_ROOT: a folder that holds torch/ (.deps/torch, or a Python's site-packages), or
# the torch folder itself. The wheel's own CMake package asks for a whole CUDA tool kit, even for
# work on the CPU; libtorch_cpu and libc10 alone need only the CUDA run time and CUPTI, which they
# find by their own run path. libtorch.so is left out because it pulls in libtorch_cuda.

set(FROSTLINE_TORCH_ROOT "${FROSTLINE_DEPS_DIR}/torch" CACHE PATH
    "libtorch: a folder that holds torch/, such as a Python's site-packages")

find_path(FROSTLINE_TORCH_DIR include/ATen/ATen.h
          HINTS "${FROSTLINE_TORCH_ROOT}/torch" "${FROSTLINE_TORCH_ROOT}" NO_DEFAULT_PATH)
find_library(FROSTLINE_TORCH_CPU_LIBRARY torch_cpu
             HINTS "${FROSTLINE_TORCH_DIR}/lib" NO_DEFAULT_PATH)
find_library(FROSTLINE_TORCH_C10_LIBRARY c10 HINTS "${FROSTLINE_TORCH_DIR}/lib" NO_DEFAULT_PATH)
set(_required FROSTLINE_TORCH_DIR FROSTLINE_TORCH_CPU_LIBRARY FROSTLINE_TORCH_C10_LIBRARY)
if(FROSTLINE_WITH_CUDA)
  find_library(FROSTLINE_TORCH_CUDA_LIBRARY torch_cuda
               HINTS "${FROSTLINE_TORCH_DIR}/lib" NO_DEFAULT_PATH)
  find_library(FROSTLINE_TORCH_C10_CUDA_LIBRARY c10_cuda
               HINTS "${FROSTLINE_TORCH_DIR}/lib" NO_DEFAULT_PATH)
  list(APPEND _required FROSTLINE_TORCH_CUDA_LIBRARY FROSTLINE_TORCH_C10_CUDA_LIBRARY)
endif()
if(EXISTS "${FROSTLINE_TORCH_DIR}/version.py")
  file(STRINGS "${FROSTLINE_TORCH_DIR}/version.py" _version REGEX "^__version__ *=")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" FrostlineTorch_VERSION "${_version}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  FrostlineTorch REQUIRED_VARS ${_required} VERSION_VAR FrostlineTorch_VERSION
  REASON_FAILURE_MESSAGE "run scripts/setup.sh, give -DFROSTLINE_TORCH_ROOT=DIR, or build without it: -DFROSTLINE_WITH_TORCH=OFF")

if(FrostlineTorch_FOUND AND NOT TARGET frostline::torch)
  set(_includes "${FROSTLINE_TORCH_DIR}/include"
      "${FROSTLINE_TORCH_DIR}/include/torch/csrc/api/include")
  function(frostline_import_torch name library)
    add_library(frostline::${name} SHARED IMPORTED)
    set_target_properties(frostline::${name} PROPERTIES
      IMPORTED_LOCATION "${library}" INTERFACE_INCLUDE_DIRECTORIES "${_includes}")
  endfunction()
  frostline_import_torch(torch_c10 "${FROSTLINE_TORCH_C10_LIBRARY}")
  frostline_import_torch(torch_cpu "${FROSTLINE_TORCH_CPU_LIBRARY}")
  add_library(frostline::torch INTERFACE IMPORTED)
  target_link_libraries(frostline::torch INTERFACE frostline::torch_cpu frostline::torch_c10)
  target_compile_definitions(frostline::torch INTERFACE _GLIBCXX_USE_CXX11_ABI=1)
  if(FROSTLINE_WITH_CUDA)
    frostline_import_torch(torch_c10_cuda "${FROSTLINE_TORCH_C10_CUDA_LIBRARY}")
    frostline_import_torch(torch_cuda "${FROSTLINE_TORCH_CUDA_LIBRARY}")
    # Kernels register themselves when libtorch_cuda is loaded; no symbol of it need be used.
    target_link_options(frostline::torch INTERFACE "LINKER:--no-as-needed")
    target_link_libraries(frostline::torch INTERFACE frostline::torch_cuda
                          frostline::torch_c10_cuda CUDA::cudart)
    # The wheels that libtorch_cuda needs bring headers (cuBLAS, cuSPARSE) a small toolkit lacks.
    file(GLOB _wheel_includes LIST_DIRECTORIES true "${FROSTLINE_TORCH_DIR}/../nvidia/cu*/include")
    target_include_directories(frostline::torch INTERFACE ${_wheel_includes})
  endif()
endif()
