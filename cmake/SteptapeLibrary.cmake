# SPDX-License-Identifier: Apache-2.0
# steptape_add_library(<room> COMPONENT <component> [HEADERS ...] [GENERATED_HEADERS ...]
#                      [SOURCES ...] [PUBLIC ...] [PRIVATE ...])
#
# Declares one room: the target steptape_<room>, its alias steptape::<room>, public headers that are checked to
# compile on their own, hidden visibility, and its component's export set. HEADERS are relative
# to include/, GENERATED_HEADERS to include/ in the build folder.
# Link only the steptape:: aliases: a typo is then an error at configuration.
#
# steptape_add_library(<room> INTERNAL ...): only for programs of this build, which link it statically. Not installed.
#
# steptape_add_library(<room> SHARED ...): a shared library in every build, for programs that need no C++ compiler. Its
# binary interface is stable, so SOVERSION does not follow the version of the project.
#
# steptape_add_interface(<name> COMPONENT <component> [HEADERS ...] [PUBLIC ...])
#
# Declares a target without code that collects rooms, such as steptape::core.
#
# steptape_add_umbrella(<room>): the other components are single rooms. Their umbrella header joins the room's own, and
# who links one can use all of core.
#
# The package in a wheel brings this file, for components that it builds in the user's project: see steptapeConfig.cmake.in.
include_guard(GLOBAL)

add_library(steptape_build_flags INTERFACE)
target_compile_features(steptape_build_flags INTERFACE cxx_std_17)
target_compile_options(steptape_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wconversion
  -Wno-sign-conversion
  $<$<BOOL:${STEPTAPE_WARNINGS_AS_ERRORS}>:-Werror>
  $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wthread-safety>)
if(STEPTAPE_SANITIZE)
  target_compile_options(steptape_build_flags INTERFACE
    -fsanitize=${STEPTAPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
    # GCC's instrumentation causes false warnings about paths that do not exist. The release build still warns.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(steptape_build_flags INTERFACE -fsanitize=${STEPTAPE_SANITIZE})
endif()
if(STEPTAPE_FUZZ)
  target_compile_options(steptape_build_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(STEPTAPE_TORCH_CXX_STANDARD GREATER_EQUAL 20)
  # GCC 12 reports overlapping copies in C++20's `"text" + std::string()` (GCC bug 105651).
  target_compile_options(steptape_build_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
endif()
if(DEFINED STEPTAPE_TORCH_CXX11_ABI)
  target_compile_definitions(steptape_build_flags INTERFACE _GLIBCXX_USE_CXX11_ABI=${STEPTAPE_TORCH_CXX11_ABI})
endif()

# Sets <out> to the install component for the headers, archives and package files of <component>. Components that
# depend on another library have their own install component, because each becomes a package.
function(steptape_development_component component out)
  if(component MATCHES "^(c10d|torch|trainer)$")
    set(${out} steptape_torch_Development PARENT_SCOPE)
  elseif(component MATCHES "^(c|figure|images|mpi)$")
    set(${out} steptape_${component}_Development PARENT_SCOPE)
  else()
    set(${out} steptape_Development PARENT_SCOPE)
  endif()
endfunction()

# Records that <component> contains <target>, for the installed package and pkg-config.
function(steptape_register target component)
  set_property(GLOBAL APPEND PROPERTY STEPTAPE_${component}_TARGETS ${target})
  get_property(components GLOBAL PROPERTY STEPTAPE_COMPONENTS)
  if(NOT component IN_LIST components)
    set_property(GLOBAL APPEND PROPERTY STEPTAPE_COMPONENTS ${component})
  endif()
  if(STEPTAPE_INSTALL)
    steptape_development_component(${component} development)
    # Programs of a user need the library for C alone at run time, so it is a package of its own.
    set(runtime steptape_Runtime)
    if(component STREQUAL "c")
      set(runtime steptape_c_Runtime)
    endif()
    install(TARGETS ${target} EXPORT steptape-${component}
      RUNTIME COMPONENT ${runtime}
      LIBRARY COMPONENT ${runtime} NAMELINK_COMPONENT ${development}
      ARCHIVE COMPONENT ${development}
      FILE_SET HEADERS COMPONENT ${development})
  endif()
endfunction()

function(steptape_add_library room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL;SHARED" "COMPONENT;SOVERSION" "HEADERS;GENERATED_HEADERS;SOURCES;PUBLIC;PRIVATE")
  set(target steptape_${room})
  set(type)
  if(arg_INTERNAL)
    set(type STATIC)
  elseif(arg_SHARED AND NOT STEPTAPE_SANITIZE)
    # Sanitizers see the whole program, and complain of a second copy of a static library.
    set(type SHARED)
  endif()
  add_library(${target} ${type} ${arg_SOURCES})
  add_library(steptape::${room} ALIAS ${target})

  list(TRANSFORM arg_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/)
  list(TRANSFORM arg_GENERATED_HEADERS PREPEND ${PROJECT_BINARY_DIR}/include/)
  target_sources(${target} PUBLIC
    FILE_SET HEADERS
    BASE_DIRS ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include
    FILES ${arg_HEADERS} ${arg_GENERATED_HEADERS})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  if(NOT arg_SHARED)
    target_compile_features(${target} PUBLIC cxx_std_17)
  endif()
  target_link_libraries(${target}
    PUBLIC ${arg_PUBLIC}
    PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:steptape_build_flags>)
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${room}
    OUTPUT_NAME steptape_${room}
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON
    # Shared libraries are in one folder. LibTorch and MPI stay where they were found.
    INSTALL_RPATH "$ORIGIN"
    INSTALL_RPATH_USE_LINK_PATH ON
    VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  if(arg_SOVERSION)
    set_target_properties(${target} PROPERTIES SOVERSION ${arg_SOVERSION})
  endif()
  if(arg_SHARED AND NOT BUILD_SHARED_LIBS)
    # It holds the others.
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "")
  endif()
  if(NOT arg_INTERNAL)
    steptape_register(${target} ${arg_COMPONENT})
  endif()
endfunction()

function(steptape_add_interface name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "COMPONENT" "HEADERS;PUBLIC")
  set(target steptape_${name})
  add_library(${target} INTERFACE)
  add_library(steptape::${name} ALIAS ${target})
  list(TRANSFORM arg_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/)
  target_sources(${target} INTERFACE
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${arg_HEADERS})
  target_link_libraries(${target} INTERFACE ${arg_PUBLIC})
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${name}
    VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL})
  steptape_register(${target} ${arg_COMPONENT})
endfunction()

function(steptape_add_umbrella room)
  target_sources(steptape_${room} PUBLIC
    FILE_SET HEADERS FILES ${PROJECT_SOURCE_DIR}/include/steptape/${room}.h)
  target_link_libraries(steptape_${room} INTERFACE steptape::core)
endfunction()

# First, since rooms are registered from bottom to top.
if(TARGET steptape_protobuf_lite)
  steptape_register(steptape_protobuf_lite core)
endif()
