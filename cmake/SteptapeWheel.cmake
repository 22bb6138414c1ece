# SPDX-License-Identifier: Apache-2.0
# What a wheel has beside the package of an installation: the sources of the components that need LibTorch, MPI, Cairo or
# libraries of images, for the ones that a user has. A wheel is a prefix, steptape/cpp in the package for Python.
#
# The folder of the headers holds the project cmake/wheel, and src with the rooms of these components and all headers.

cmake_path(GET CMAKE_INSTALL_INCLUDEDIR PARENT_PATH folder)
if(NOT folder)
  set(folder .)
endif()
# CMake 3.31 warns of ./src.
cmake_path(SET source_folder NORMALIZE ${folder}/src)
set(sources COMPONENT steptape_Sources EXCLUDE_FROM_ALL)

install(FILES ${PROJECT_SOURCE_DIR}/cmake/wheel/CMakeLists.txt DESTINATION ${folder} ${sources})
install(FILES ${PROJECT_SOURCE_DIR}/cmake/SteptapeLibrary.cmake ${PROJECT_SOURCE_DIR}/cmake/SteptapeFindGloo.cmake
  DESTINATION ${STEPTAPE_CMAKE_DIR} ${sources})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${sources})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/ DESTINATION ${source_folder} ${sources}
  FILES_MATCHING PATTERN *.h PATTERN server EXCLUDE)
foreach(room IN ITEMS values/charts profile/figures ranks/mpi ranks/c10d libtorch
    train/images train/replicas train/data train/scaling train/checkpoint train/loop)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/${room}/ DESTINATION ${source_folder}/${room} ${sources}
    FILES_MATCHING PATTERN *.cpp PATTERN CMakeLists.txt)
endforeach()
