# SPDX-License-Identifier: Apache-2.0
# cmake -D BUILD_DIR=... -D STAGE=... -P component_files.cmake
#
# Installs each component that becomes a package separately. It checks that no file is in two components, that the
# components together are the whole installation, and that files which need another library are in its component.
cmake_minimum_required(VERSION 3.24)
include(${BUILD_DIR}/CPackConfig.cmake)
file(REMOVE_RECURSE ${STAGE})

# installed(<out> <folder> [--component <name>]): the files in STAGE/<folder> after installing there
function(installed out folder)
  execute_process(
    COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${STAGE}/${folder} ${ARGN}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB_RECURSE files RELATIVE ${STAGE}/${folder} ${STAGE}/${folder}/*)
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

installed(everything all)
set(packed "")
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  installed(files ${component} --component ${component})
  if(NOT files)
    message(FATAL_ERROR "${component} has no files")
  endif()
  foreach(file IN LISTS files)
    if(file IN_LIST packed)
      message(FATAL_ERROR "${file} is in ${component} and in another component")
    endif()
    # Modules for Fortran are sources, which the user's MPI compiles.
    if(NOT file MATCHES "/fortran/" AND file MATCHES "steptape[/_-](c10d|figure|mpi|torch|trainer)[./-]")
      string(REGEX REPLACE "^(trainer|c10d)$" torch owner ${CMAKE_MATCH_1})
      if(NOT component STREQUAL "steptape_${owner}_Development")
        message(FATAL_ERROR "${file} is in ${component}, and not in steptape_${owner}_Development")
      endif()
    endif()
  endforeach()
  list(LENGTH files count)
  message("${component}: ${count} files")
  list(APPEND packed ${files})
endforeach()

set(missing ${everything})
list(REMOVE_ITEM missing ${packed})
if(missing)
  message(FATAL_ERROR "in no package: ${missing}")
endif()
file(REMOVE_RECURSE ${STAGE})
