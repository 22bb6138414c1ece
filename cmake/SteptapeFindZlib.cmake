# SPDX-License-Identifier: Apache-2.0
# Declares ZLIB::ZLIB, also where only what programs load of zlib is installed, libz.so.1, and not what compilers look
# for. Nothing that is compiled includes zlib.h: that has been done. Installed with the package.
if(NOT TARGET ZLIB::ZLIB)
  find_package(ZLIB QUIET)
endif()
if(NOT TARGET ZLIB::ZLIB)
  find_file(STEPTAPE_ZLIB_LIBRARY libz.so.1
    PATH_SUFFIXES lib/${CMAKE_LIBRARY_ARCHITECTURE} lib64 lib PATHS / /usr)
  mark_as_advanced(STEPTAPE_ZLIB_LIBRARY)
  if(STEPTAPE_ZLIB_LIBRARY)
    add_library(ZLIB::ZLIB SHARED IMPORTED)
    set_target_properties(ZLIB::ZLIB PROPERTIES IMPORTED_LOCATION ${STEPTAPE_ZLIB_LIBRARY})
  endif()
endif()
