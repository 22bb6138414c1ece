# SPDX-License-Identifier: Apache-2.0
# Debian's cross compiler for 64-bit ARM, and QEMU to run its programs. The libraries for that architecture are in
# build/sysroot/aarch64, which tools/cross.sh fills, or in the folder that the environment variable
# STEPTAPE_SYSROOT names.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

if(DEFINED ENV{STEPTAPE_SYSROOT})
  set(CMAKE_SYSROOT $ENV{STEPTAPE_SYSROOT})
else()
  set(CMAKE_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../../build/sysroot/aarch64)
endif()
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${CMAKE_SYSROOT})
# The linkers that a native build prefers may not support this architecture.
set(CMAKE_LINKER_TYPE BFD)

# Programs such as protoc are those of the build machine.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
