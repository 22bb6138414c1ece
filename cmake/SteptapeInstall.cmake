# SPDX-License-Identifier: Apache-2.0
# The installed package: one export set per component, the CMake config that joins them, and
# pkg-config files. Install components: steptape_Tools, steptape_Runtime (shared libraries), steptape_Development
# (core and testing), steptape_c_Runtime and steptape_c_Development, and steptape_figure_Development,
# steptape_images_Development, steptape_mpi_Development, steptape_torch_Development. Only wheels have steptape_Sources: see
# SteptapeWheel.cmake.
include(CMakePackageConfigHelpers)

set(STEPTAPE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/steptape)
set(STEPTAPE_FORTRAN_DIR ${CMAKE_INSTALL_DATADIR}/steptape/fortran)
set(STEPTAPE_PROTOBUF_IS_PRIVATE FALSE)
set(requires_protobuf "protobuf ")
if(TARGET steptape_protobuf_lite)
  set(STEPTAPE_PROTOBUF_IS_PRIVATE TRUE)
  set(requires_protobuf "")
endif()
get_property(STEPTAPE_COMPONENTS GLOBAL PROPERTY STEPTAPE_COMPONENTS)

foreach(component IN LISTS STEPTAPE_COMPONENTS)
  steptape_development_component(${component} development)
  install(EXPORT steptape-${component}
    FILE steptape-${component}-targets.cmake
    NAMESPACE steptape::
    DESTINATION ${STEPTAPE_CMAKE_DIR}
    COMPONENT ${development})
endforeach()

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/steptapeConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/steptapeConfig.cmake
  INSTALL_DESTINATION ${STEPTAPE_CMAKE_DIR}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR STEPTAPE_FORTRAN_DIR
  NO_SET_AND_CHECK_MACRO
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor release may change the interface.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/package/steptapeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(
  FILES
    ${PROJECT_BINARY_DIR}/package/steptapeConfig.cmake
    ${PROJECT_BINARY_DIR}/package/steptapeConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/SteptapeFindCairo.cmake
    ${PROJECT_SOURCE_DIR}/cmake/SteptapeFindImageLibraries.cmake
    ${PROJECT_SOURCE_DIR}/cmake/SteptapeFindProtobuf.cmake
    ${PROJECT_SOURCE_DIR}/cmake/SteptapeFindTorch.cmake
    ${PROJECT_SOURCE_DIR}/cmake/SteptapeFindZlib.cmake
    ${PROJECT_SOURCE_DIR}/cmake/SteptapeFortran.cmake
  DESTINATION ${STEPTAPE_CMAKE_DIR}
  COMPONENT steptape_Development)

# Writes steptape-<component>.pc. LibTorch has no .pc file, so torch and trainer have none either.
function(steptape_install_pkg_config component)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DESCRIPTION;REQUIRES;REQUIRES_PRIVATE" "")
  get_property(targets GLOBAL PROPERTY STEPTAPE_${component}_TARGETS)
  # Rooms are declared from bottom to top. A static link line names the user of a symbol before its definition.
  list(REVERSE targets)
  set(libraries "")
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      string(APPEND libraries " -l${target}")
    endif()
  endforeach()
  # Relative to the .pc file, so that the installed tree can be moved.
  file(RELATIVE_PATH to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
  set(variables "")
  if(component STREQUAL "c")
    set(folder "\${prefix}/${STEPTAPE_FORTRAN_DIR}")
    set(variables "fortran=${folder}/steptape.f90\nfortran_mpi=${folder}/steptape_mpi.f90\n")
  endif()
  set(file ${PROJECT_BINARY_DIR}/package/steptape-${component}.pc)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/steptape.pc.in ${file} @ONLY)
  steptape_development_component(${component} development)
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${development})
endfunction()

steptape_install_pkg_config(core
  DESCRIPTION "${PROJECT_DESCRIPTION}"
  REQUIRES_PRIVATE "${requires_protobuf}zlib")
if("c" IN_LIST STEPTAPE_COMPONENTS)
  steptape_install_pkg_config(c DESCRIPTION "Steptape for C and Fortran")
  install(FILES ${PROJECT_SOURCE_DIR}/include/steptape/c/mpi.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/steptape/c COMPONENT steptape_c_Development)
  install(FILES ${PROJECT_BINARY_DIR}/src/c/fortran/steptape.f90 ${PROJECT_SOURCE_DIR}/src/c/fortran/steptape_mpi.f90
    DESTINATION ${STEPTAPE_FORTRAN_DIR} COMPONENT steptape_c_Development)
endif()
if("mpi" IN_LIST STEPTAPE_COMPONENTS)
  steptape_install_pkg_config(mpi
    DESCRIPTION "Steptape over MPI; compile and link with mpicxx"
    REQUIRES "steptape-core = ${PROJECT_VERSION}")
endif()

if("figure" IN_LIST STEPTAPE_COMPONENTS)
  steptape_install_pkg_config(figure
    DESCRIPTION "Figures for Steptape, drawn by Cairo"
    REQUIRES "steptape-core = ${PROJECT_VERSION}"
    REQUIRES_PRIVATE "cairo")
endif()

if("images" IN_LIST STEPTAPE_COMPONENTS)
  steptape_install_pkg_config(images
    DESCRIPTION "Folders of JPEG and PNG files for Steptape"
    REQUIRES "steptape-core = ${PROJECT_VERSION}"
    REQUIRES_PRIVATE "libjpeg libpng")
endif()

include(SteptapeWheel)

if(TARGET steptape)
  if(BUILD_SHARED_LIBS)
    set_target_properties(steptape PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  endif()
  install(TARGETS steptape RUNTIME COMPONENT steptape_Tools)
endif()
if(TARGET steptape_data_server)
  install(TARGETS steptape_data_server RUNTIME COMPONENT steptape_Tools)
endif()
if(TARGET steptape_help)
  set(help ${PROJECT_BINARY_DIR}/tools/steptape/help)
  install(DIRECTORY ${help}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT steptape_Tools)
  install(FILES ${help}/steptape
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT steptape_Tools)
  install(FILES ${help}/_steptape
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT steptape_Tools)
  install(FILES ${help}/steptape.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT steptape_Tools)
endif()
