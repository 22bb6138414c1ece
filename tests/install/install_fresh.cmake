# SPDX-License-Identifier: Apache-2.0
# Installs BUILD_DIR into an empty PREFIX and checks that the installation can be moved: its CMake and pkg-config
# files name no folder of this build. With HAS_TOOL it must contain the tool, its shell completions and its man pages.
file(REMOVE_RECURSE ${PREFIX})
execute_process(
  COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${PREFIX}
  OUTPUT_QUIET
  COMMAND_ERROR_IS_FATAL ANY)

file(GLOB_RECURSE files ${PREFIX}/*.cmake ${PREFIX}/*.pc ${PREFIX}/*.h)
list(LENGTH files count)
if(count LESS 10)
  message(FATAL_ERROR "only ${count} files were installed in ${PREFIX}")
endif()
foreach(file IN LISTS files)
  file(READ ${file} text)
  foreach(folder IN ITEMS ${SOURCE_DIR} ${BUILD_DIR} ${PREFIX})
    string(FIND "${text}" "${folder}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} names ${folder}")
    endif()
  endforeach()
endforeach()
message("installed ${count} headers and package files")

if(HAS_TOOL)
  foreach(file IN ITEMS
      bin/steptape
      share/man/man1/steptape.1
      share/man/man1/steptape-inspect.1
      share/bash-completion/completions/steptape
      share/zsh/site-functions/_steptape
      share/fish/vendor_completions.d/steptape.fish)
    if(NOT EXISTS ${PREFIX}/${file})
      message(FATAL_ERROR "${file} was not installed in ${PREFIX}")
    endif()
  endforeach()
endif()
if(HAS_DATA_SERVER)
  execute_process(COMMAND ${PREFIX}/bin/steptape-data-server --version
    OUTPUT_VARIABLE said RESULT_VARIABLE result)
  if(NOT result EQUAL 0 OR NOT said MATCHES "^steptape-data-server [0-9]")
    message(FATAL_ERROR "steptape-data-server --version: got ${result} and '${said}'; expected its name and version")
  endif()
endif()
