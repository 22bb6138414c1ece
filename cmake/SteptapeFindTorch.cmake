# SPDX-License-Identifier: Apache-2.0
# Finds LibTorch and declares steptape::libtorch from its headers and libraries. Installed with the package.
#
# LibTorch's own TorchConfig.cmake is not used: that of a CUDA build, which `pip install torch` installs, fails
# without a CUDA toolkit, although nothing in its headers or libraries needs one. The target has its own name,
# so that a project may also call find_package(Torch), before or after.
#
# The search looks in Torch_DIR (the folder of TorchConfig.cmake, or the installation), in CMAKE_PREFIX_PATH
# (also as torch.utils.cmake_prefix_path prints it), in STEPTAPE_TORCH_HINTS, and in the system's include folders.
#
# STEPTAPE_WITH_CUDA   ON links LibTorch's CUDA libraries, OFF does not, and AUTO links them if they can be
#                      loaded. Without them tensors live on the CPU.
#
# Sets, if LibTorch can be used:
#   STEPTAPE_TORCH_ROOT           the installation, which has include/ and lib/
#   STEPTAPE_TORCH_VERSION        such as 2.15.0
#   STEPTAPE_TORCH_CXX_STANDARD   17 or 20: the oldest standard that its headers accept
#   STEPTAPE_TORCH_CXX11_ABI      0 or 1: the value of _GLIBCXX_USE_CXX11_ABI that it was compiled with
#   STEPTAPE_TORCH_CUDA           whether its CUDA libraries are linked
# and otherwise STEPTAPE_TORCH_PROBLEM: why it cannot be used, in one sentence.

set(STEPTAPE_TORCH_OLDEST 1.13)

# Sets <out> to the folder that holds LibTorch's include/, or to nothing.
function(_steptape_find_torch_root out)
  set(header torch/csrc/api/include/torch/torch.h)
  set(include_dir NOTFOUND)
  string(REPLACE ":" ";" prefixes "$ENV{CMAKE_PREFIX_PATH}")
  list(PREPEND prefixes ${CMAKE_PREFIX_PATH})
  if(Torch_DIR)
    set(prefixes ${Torch_DIR})
  endif()
  foreach(prefix IN LISTS prefixes)
    # <torch>/share/cmake/Torch in a wheel, /usr/lib/<architecture>/cmake/Torch in Debian.
    foreach(up IN ITEMS . ../.. ../../.. ../../../..)
      find_path(include_dir ${header} PATHS ${prefix}/${up}/include NO_DEFAULT_PATH NO_CACHE)
    endforeach()
  endforeach()
  if(NOT Torch_DIR)
    list(TRANSFORM STEPTAPE_TORCH_HINTS APPEND /include OUTPUT_VARIABLE hints)
    find_path(include_dir ${header} HINTS ${hints} NO_CACHE)
  endif()
  set(root "")
  if(include_dir)
    get_filename_component(root ${include_dir}/.. ABSOLUTE)
  endif()
  set(${out} "${root}" PARENT_SCOPE)
endfunction()

# Looks only next to the headers: headers of one LibTorch with libraries of another link, and crash.
function(_steptape_find_torch_library root name out)
  set(library NOTFOUND)
  find_library(library ${name}
    PATHS ${root}/lib/${CMAKE_LIBRARY_ARCHITECTURE} ${root}/lib ${root}/lib64 NO_DEFAULT_PATH NO_CACHE)
  if(NOT library)
    set(library "")
  endif()
  set(${out} "${library}" PARENT_SCOPE)
endfunction()

# Sets <out> to the names of the libraries that <library> needs and the loader does not find.
function(_steptape_find_unloadable library out)
  set(missing "")
  if(NOT CMAKE_CROSSCOMPILING)
    execute_process(COMMAND ldd ${library} OUTPUT_VARIABLE loaded ERROR_QUIET)
    string(REGEX MATCHALL "[^ \t\n]+ => not found" missing "${loaded}")
    list(TRANSFORM missing REPLACE " => not found" "")
    list(REMOVE_DUPLICATES missing)
  endif()
  list(JOIN missing " " missing)
  set(${out} "${missing}" PARENT_SCOPE)
endfunction()

function(_steptape_read_torch_version root out)
  set(version "")
  foreach(header IN ITEMS torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
    if(NOT version AND EXISTS ${root}/include/${header})
      file(READ ${root}/include/${header} text)
      if(text MATCHES "TORCH_VERSION_MAJOR +([0-9]+).*TORCH_VERSION_MINOR +([0-9]+).*TORCH_VERSION_PATCH +([0-9]+)")
        set(version ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3})
      endif()
    endif()
  endforeach()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

# torch/all.h rejects standards older than LibTorch's headers need.
function(_steptape_read_torch_standard root out)
  set(standard 17)
  file(STRINGS ${root}/include/torch/csrc/api/include/torch/all.h checks REGEX "__cplusplus < 20[0-9]+L")
  if(checks MATCHES "__cplusplus < 20([0-9][0-9])" AND CMAKE_MATCH_1 GREATER standard)
    set(standard ${CMAKE_MATCH_1})
  endif()
  set(${out} ${standard} PARENT_SCOPE)
endfunction()

# Sets <problem> if the compiler lacks the standard, as GCC 10 does: its C++20 is in part C++17.
function(_steptape_check_torch_standard problem)
  set(${problem} "" PARENT_SCOPE)
  if(STEPTAPE_TORCH_CXX_STANDARD EQUAL 17)
    return()
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/torch_standard_check)
  file(WRITE ${folder}/main.cpp
    "#if __cplusplus < 20${STEPTAPE_TORCH_CXX_STANDARD}00L\n#error older\n#endif\nint main() {}\n")
  try_compile(has_standard ${folder} ${folder}/main.cpp CXX_STANDARD ${STEPTAPE_TORCH_CXX_STANDARD})
  if(NOT has_standard)
    string(CONCAT text "the LibTorch ${STEPTAPE_TORCH_VERSION} in ${STEPTAPE_TORCH_ROOT} needs C++${STEPTAPE_TORCH_CXX_STANDARD}, "
      "which ${CMAKE_CXX_COMPILER} (${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}) does not support. "
      "Use a newer compiler, such as GCC 11 or Clang 12, or an older LibTorch")
    set(${problem} "${text}" PARENT_SCOPE)
  endif()
endfunction()

# The mangled name of a constructor that takes a std::string shows which std::string it is.
function(_steptape_read_torch_abi c10 out)
  file(STRINGS ${c10} constructors REGEX "^_ZN3c105ErrorC1E.*__cxx11" LIMIT_COUNT 1)
  set(abi 0)
  if(constructors)
    set(abi 1)
  endif()
  set(${out} ${abi} PARENT_SCOPE)
endfunction()

# Sets <out> to the macros that LibTorch was compiled with and that its headers test: without them some classes
# have another layout. Only LibTorch's CMake package names them.
function(_steptape_read_torch_definitions root library out)
  set(definitions "")
  file(GLOB exports ${root}/share/cmake/Caffe2/Caffe2Targets.cmake ${root}/lib/*/cmake/Caffe2/Caffe2Targets.cmake)
  foreach(export IN LISTS exports)
    file(READ ${export} text)
    if(text MATCHES "set_target_properties\\(${library} PROPERTIES[ \n]+INTERFACE_COMPILE_DEFINITIONS \"([A-Z0-9_;]+)\"")
      list(APPEND definitions ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set(${out} "${definitions}" PARENT_SCOPE)
endfunction()

# Sets <out> to the logging libraries that c10's headers call, if LibTorch was built to use them.
function(_steptape_find_torch_logging root out)
  set(libraries "")
  if(EXISTS ${root}/include/c10/macros/cmake_macros.h)
    file(STRINGS ${root}/include/c10/macros/cmake_macros.h macros REGEX "^#define C10_USE_")
    foreach(name IN ITEMS glog gflags)
      string(TOUPPER ${name} macro)
      if("#define C10_USE_${macro}" IN_LIST macros)
        list(APPEND libraries ${name})
      endif()
    endforeach()
  endif()
  set(${out} "${libraries}" PARENT_SCOPE)
endfunction()

# Sets <cuda> to libtorch_cuda.so if it should be linked, and <problem> to why STEPTAPE_WITH_CUDA=ON is impossible.
function(_steptape_find_torch_cuda root cuda problem)
  set(library "")
  set(missing "")
  if(NOT STEPTAPE_WITH_CUDA STREQUAL "OFF")
    _steptape_find_torch_library(${root} torch_cuda library)
    if(library)
      _steptape_find_unloadable(${library} missing)
    endif()
  endif()
  set(${problem} "" PARENT_SCOPE)
  if(STEPTAPE_WITH_CUDA STREQUAL "ON" AND NOT library)
    set(${problem} "STEPTAPE_WITH_CUDA: got ON; expected AUTO or OFF, because the LibTorch in ${root} is built without CUDA" PARENT_SCOPE)
  elseif(STEPTAPE_WITH_CUDA STREQUAL "ON" AND missing)
    set(${problem} "STEPTAPE_WITH_CUDA: got ON, and the CUDA libraries of LibTorch need libraries that were not found: ${missing}" PARENT_SCOPE)
  elseif(missing)
    set(library "")
  endif()
  set(${cuda} "${library}" PARENT_SCOPE)
endfunction()

# _steptape_declare_torch(<libtorch_cpu.so> <libc10.so> <libtorch_cuda.so or nothing> <definitions>)
function(_steptape_declare_torch cpu c10 cuda definitions)
  _steptape_find_torch_logging(${STEPTAPE_TORCH_ROOT} logging)
  set(include ${STEPTAPE_TORCH_ROOT}/include)
  add_library(steptape::libtorch SHARED IMPORTED)
  set_target_properties(steptape::libtorch PROPERTIES
    IMPORTED_LOCATION ${cpu}
    INTERFACE_INCLUDE_DIRECTORIES "${include};${include}/torch/csrc/api/include"
    INTERFACE_COMPILE_DEFINITIONS "${definitions};_GLIBCXX_USE_CXX11_ABI=${STEPTAPE_TORCH_CXX11_ABI}"
    INTERFACE_COMPILE_FEATURES cxx_std_${STEPTAPE_TORCH_CXX_STANDARD}
    INTERFACE_LINK_LIBRARIES "${c10};${logging}")
  if(cuda)
    # Nothing calls this library: its kernels register themselves on load. A linker would drop it.
    set_property(TARGET steptape::libtorch APPEND PROPERTY
      INTERFACE_LINK_LIBRARIES "-Wl,--push-state,--no-as-needed,${cuda},--pop-state")
  endif()
endfunction()

# _steptape_use_torch(<root>): declares steptape::libtorch, or sets STEPTAPE_TORCH_PROBLEM.
macro(_steptape_use_torch root)
  set(STEPTAPE_TORCH_ROOT "${root}")
  _steptape_find_torch_library("${root}" torch_cpu _steptape_torch_cpu)
  _steptape_find_torch_library("${root}" c10 _steptape_torch_c10)
  _steptape_read_torch_version("${root}" STEPTAPE_TORCH_VERSION)
  if(NOT _steptape_torch_cpu OR NOT _steptape_torch_c10)
    set(STEPTAPE_TORCH_PROBLEM "the LibTorch in ${root}: got headers only; expected libtorch_cpu.so and libc10.so in its lib folder")
  elseif(STEPTAPE_TORCH_VERSION VERSION_LESS STEPTAPE_TORCH_OLDEST)
    set(STEPTAPE_TORCH_PROBLEM
      "the LibTorch in ${root}: got version ${STEPTAPE_TORCH_VERSION}; expected ${STEPTAPE_TORCH_OLDEST} or later")
  else()
    _steptape_find_unloadable(${_steptape_torch_cpu} _steptape_torch_missing)
    _steptape_find_torch_cuda("${root}" _steptape_torch_cuda STEPTAPE_TORCH_PROBLEM)
    if(_steptape_torch_missing)
      set(STEPTAPE_TORCH_PROBLEM
        "the LibTorch in ${root} needs libraries that were not found: ${_steptape_torch_missing}. Install what its package requires")
    endif()
  endif()
  if(NOT STEPTAPE_TORCH_PROBLEM)
    _steptape_read_torch_standard("${root}" STEPTAPE_TORCH_CXX_STANDARD)
    _steptape_check_torch_standard(STEPTAPE_TORCH_PROBLEM)
  endif()
  if(NOT STEPTAPE_TORCH_PROBLEM)
    _steptape_read_torch_abi(${_steptape_torch_c10} STEPTAPE_TORCH_CXX11_ABI)
    _steptape_read_torch_definitions("${root}" torch_cpu _steptape_torch_definitions)
    set(STEPTAPE_TORCH_CUDA FALSE)
    if(_steptape_torch_cuda)
      set(STEPTAPE_TORCH_CUDA TRUE)
      _steptape_read_torch_definitions("${root}" torch_cuda _steptape_cuda_definitions)
      list(APPEND _steptape_torch_definitions ${_steptape_cuda_definitions})
    endif()
    _steptape_declare_torch(
      ${_steptape_torch_cpu} ${_steptape_torch_c10} "${_steptape_torch_cuda}" "${_steptape_torch_definitions}")
  endif()
endmacro()

if(NOT TARGET steptape::libtorch)
  set(STEPTAPE_TORCH_PROBLEM "")
  _steptape_find_torch_root(_steptape_torch_root)
  if(_steptape_torch_root)
    _steptape_use_torch("${_steptape_torch_root}")
  elseif(Torch_DIR)
    set(STEPTAPE_TORCH_PROBLEM "LibTorch was not found: Torch_DIR: got ${Torch_DIR}; expected the folder share/cmake/Torch of a LibTorch")
  else()
    set(STEPTAPE_TORCH_PROBLEM "LibTorch was not found. Set Torch_DIR or CMAKE_PREFIX_PATH")
  endif()
endif()
