# SPDX-License-Identifier: Apache-2.0
# Finds Cairo with pkg-config, because Cairo has no CMake package, and declares steptape::cairo. Installed with
# the package, because a static archive leaves linking Cairo to its consumer.
if(NOT TARGET steptape::cairo)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND)
    # The first release with the stride and image formats that figures use. Every supported system has a later one.
    pkg_check_modules(STEPTAPE_CAIRO QUIET IMPORTED_TARGET cairo>=1.10)
  endif()
  if(TARGET PkgConfig::STEPTAPE_CAIRO)
    add_library(steptape::cairo INTERFACE IMPORTED)
    target_link_libraries(steptape::cairo INTERFACE PkgConfig::STEPTAPE_CAIRO)
  endif()
endif()
