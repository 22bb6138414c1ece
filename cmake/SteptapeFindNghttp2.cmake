# SPDX-License-Identifier: Apache-2.0
# Finds the C library of nghttp2, which has no CMake package in most releases, and declares steptape::nghttp2.
# Prefers the static library: programs that serve start without looking for a shared one.
find_path(STEPTAPE_NGHTTP2_INCLUDE_DIR nghttp2/nghttp2.h)
find_library(STEPTAPE_NGHTTP2_LIBRARY NAMES libnghttp2.a nghttp2)
mark_as_advanced(STEPTAPE_NGHTTP2_INCLUDE_DIR STEPTAPE_NGHTTP2_LIBRARY)

set(_steptape_nghttp2_version "")
if(STEPTAPE_NGHTTP2_INCLUDE_DIR AND STEPTAPE_NGHTTP2_LIBRARY)
  file(STRINGS ${STEPTAPE_NGHTTP2_INCLUDE_DIR}/nghttp2/nghttp2ver.h _steptape_nghttp2_version
    REGEX "#define NGHTTP2_VERSION \"[0-9.]+")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" _steptape_nghttp2_version "${_steptape_nghttp2_version}")
endif()
# The first release with every option that bounds what a client may ask for.
set(_steptape_oldest_nghttp2 1.41)
if(NOT _steptape_nghttp2_version)
  set(STEPTAPE_NGHTTP2_PROBLEM "nghttp2 was not found")
elseif(_steptape_nghttp2_version VERSION_LESS _steptape_oldest_nghttp2)
  string(CONCAT STEPTAPE_NGHTTP2_PROBLEM "nghttp2 in ${STEPTAPE_NGHTTP2_INCLUDE_DIR} is "
    "${_steptape_nghttp2_version}; expected ${_steptape_oldest_nghttp2} or later")
else()
  add_library(steptape::nghttp2 UNKNOWN IMPORTED)
  set_target_properties(steptape::nghttp2 PROPERTIES
    IMPORTED_LOCATION ${STEPTAPE_NGHTTP2_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${STEPTAPE_NGHTTP2_INCLUDE_DIR})
endif()
