# SPDX-License-Identifier: Apache-2.0
# Builds the C library of nghttp2 from STEPTAPE_NGHTTP2_SOURCE, as a static library whose symbols nothing else in the
# process sees, and declares steptape::nghttp2.
#
# STEPTAPE_NGHTTP2_SOURCE is the folder of a release of nghttp2: the one that holds lib/nghttp2_session.c.

# Fetches that source with pip if the builder of a wheel named none. The source distribution of ngh2 contains all of it.
function(steptape_fetch_nghttp2 out)
  set(package ngh2==0.3.0)
  set(folder ${PROJECT_BINARY_DIR}/nghttp2_source)
  set(source ${folder}/ngh2-0.3.0/vendor/nghttp2)
  if(NOT EXISTS ${source}/lib/nghttp2_session.c)
    message(STATUS "Fetching the source of nghttp2: pip download ${package}")
    find_package(Python QUIET COMPONENTS Interpreter)
    file(MAKE_DIRECTORY ${folder})
    execute_process(
      COMMAND ${Python_EXECUTABLE} -m pip download --quiet --no-deps --no-binary ngh2 --dest ${folder} ${package}
      RESULT_VARIABLE result ERROR_VARIABLE error)
    set(archive ${folder}/ngh2-0.3.0.tar.gz)
    if(NOT result EQUAL 0 OR NOT EXISTS ${archive})
      message(FATAL_ERROR
        "Source of nghttp2: pip download ${package}: got exit code ${result}; expected 0.\n${error}\n"
        "The wheel links a private copy. Either pass the folder of a release of nghttp2: "
        "pip wheel . -C cmake.define.STEPTAPE_NGHTTP2_SOURCE=FOLDER. Or link the library of this machine: "
        "-C cmake.define.STEPTAPE_NGHTTP2_SOURCE=system")
    endif()
    file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${folder} PATTERNS */vendor/nghttp2/*)
  endif()
  set(${out} ${source} PARENT_SCOPE)
endfunction()

if(STEPTAPE_NGHTTP2_SOURCE STREQUAL "fetch")
  steptape_fetch_nghttp2(STEPTAPE_NGHTTP2_SOURCE)
endif()
if(NOT EXISTS ${STEPTAPE_NGHTTP2_SOURCE}/lib/nghttp2_session.c)
  message(FATAL_ERROR "STEPTAPE_NGHTTP2_SOURCE: got ${STEPTAPE_NGHTTP2_SOURCE}, without lib/nghttp2_session.c; "
                      "expected the folder of a release of nghttp2")
endif()

enable_language(C)
file(GLOB _steptape_nghttp2_sources ${STEPTAPE_NGHTTP2_SOURCE}/lib/*.c)
add_library(steptape_nghttp2 STATIC EXCLUDE_FROM_ALL ${_steptape_nghttp2_sources})
add_library(steptape::nghttp2 ALIAS steptape_nghttp2)
target_include_directories(steptape_nghttp2 SYSTEM PUBLIC ${STEPTAPE_NGHTTP2_SOURCE}/lib/includes)
# Release archives contain the header of the version, checkouts its template.
if(NOT EXISTS ${STEPTAPE_NGHTTP2_SOURCE}/lib/includes/nghttp2/nghttp2ver.h)
  file(STRINGS ${STEPTAPE_NGHTTP2_SOURCE}/configure.ac PACKAGE_VERSION REGEX "^AC_INIT\\(\\[nghttp2\\]")
  string(REGEX MATCH "([0-9]+)\\.([0-9]+)\\.([0-9]+)" PACKAGE_VERSION "${PACKAGE_VERSION}")
  math(EXPR PACKAGE_VERSION_NUM "${CMAKE_MATCH_1} << 16 | ${CMAKE_MATCH_2} << 8 | ${CMAKE_MATCH_3}" OUTPUT_FORMAT HEXADECIMAL)
  configure_file(${STEPTAPE_NGHTTP2_SOURCE}/lib/includes/nghttp2/nghttp2ver.h.in
    ${PROJECT_BINARY_DIR}/nghttp2/nghttp2/nghttp2ver.h @ONLY)
  target_include_directories(steptape_nghttp2 SYSTEM PUBLIC ${PROJECT_BINARY_DIR}/nghttp2)
endif()
# Every system that Steptape supports has these, for which nghttp2's own build looks.
target_compile_definitions(steptape_nghttp2
  PUBLIC NGHTTP2_STATICLIB
  PRIVATE HAVE_ARPA_INET_H HAVE_NETINET_IN_H HAVE_CLOCK_GETTIME _GNU_SOURCE)
target_compile_options(steptape_nghttp2 PRIVATE -w -ffunction-sections -fdata-sections)
if(STEPTAPE_SANITIZE)
  target_compile_options(steptape_nghttp2 PRIVATE -fsanitize=${STEPTAPE_SANITIZE})
endif()
if(STEPTAPE_FUZZ)
  # Then the fuzz target of a connection looks for new paths in nghttp2, too.
  target_compile_options(steptape_nghttp2 PRIVATE -fsanitize=fuzzer-no-link)
endif()
set_target_properties(steptape_nghttp2 PROPERTIES
  POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden C_STANDARD 11 UNITY_BUILD OFF)
