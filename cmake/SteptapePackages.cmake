# SPDX-License-Identifier: Apache-2.0
# Debian packages, one per install component. `cpack -G DEB` makes them in a build of the preset `deb`.
# tools/package.sh configures, builds, packs and tests them.

# steptape_add_package(<install component> <package> SECTION <section> SUMMARY <line> TEXT <line> ...
#                      [DEPENDS <package> ...] [SUGGESTS <package> ...])
# DEPENDS lists dependencies that dpkg-shlibdeps cannot see: a static archive names no library. SUGGESTS lists what is
# loaded at run time by programs that ask for it.
function(steptape_add_package component package)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "SECTION;SUMMARY" "TEXT;DEPENDS;SUGGESTS")
  string(TOUPPER ${component} name)
  list(JOIN arg_TEXT "\n" text)
  list(JOIN arg_DEPENDS ", " depends)
  list(JOIN arg_SUGGESTS ", " suggests)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_SECTION ${arg_SECTION} PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_SUGGESTS "${suggests}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_DESCRIPTION "${arg_SUMMARY}\n${text}" PARENT_SCOPE)
endfunction()

# steptape_same_minor(<out> <package> <version>): any patch release of the version's minor release. Archives
# compiled against one of them link with all of them.
function(steptape_same_minor out package version)
  string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" minor "${version}")
  math(EXPR next "${CMAKE_MATCH_2} + 1")
  set(${out} "${package} (>= ${minor})" "${package} (<< ${CMAKE_MATCH_1}.${next}~)" PARENT_SCOPE)
endfunction()

set(CPACK_COMPONENTS_ALL "")
set(same_version "libsteptape-dev (= ${PROJECT_VERSION}-1)")
set(library_text
  "Steptape is a C++17 library that writes, reads and explains TensorBoard"
  "event files, profiles operators, and trains over MPI."
  ".")

if(TARGET steptape)
  steptape_add_package(steptape_Tools steptape
    SECTION utils
    SUMMARY "inspect, plot, check and repair TensorBoard event files"
    TEXT
      "Works on event files without TensorBoard, Python or a browser: shows what"
      "runs hold, draws curves in the terminal, follows a training, compares runs,"
      "exports JSON and CSV, names what TensorBoard would not show and why, repairs"
      "damaged files, and shows where the time of a profile went."
    SUGGESTS libcurl4)
endif()

steptape_same_minor(protobuf libprotobuf-dev ${Protobuf_VERSION})
steptape_add_package(steptape_Development libsteptape-dev
  SECTION libdevel
  SUMMARY "TensorBoard event files from C++ - core"
  TEXT ${library_text} "Headers and static libraries to write and read event files and to profile."
  DEPENDS ${protobuf} zlib1g-dev
  SUGGESTS libcurl4)

if(TARGET steptape_c)
  get_target_property(c_abi steptape_c SOVERSION)
  steptape_add_package(steptape_c_Runtime libsteptape-c${c_abi}
    SECTION libs
    SUMMARY "TensorBoard event files from C and Fortran - library"
    TEXT ${library_text} "The shared library that programs in C and Fortran run with."
    SUGGESTS libcurl4)
  steptape_add_package(steptape_c_Development libsteptape-c-dev
    SECTION libdevel
    SUMMARY "TensorBoard event files from C and Fortran - development"
    TEXT ${library_text} "Headers for C, and modules for Fortran, which your compiler compiles."
    # The package files of CMake are in the core's package.
    DEPENDS ${same_version} "libsteptape-c${c_abi} (= ${PROJECT_VERSION}-1)")
endif()

if(STEPTAPE_HAVE_FIGURE)
  steptape_add_package(steptape_figure_Development libsteptape-figure-dev
    SECTION libdevel
    SUMMARY "TensorBoard event files from C++ - figures"
    TEXT ${library_text} "Headers and static libraries to draw figures with Cairo."
    DEPENDS ${same_version} libcairo2-dev pkg-config)
endif()

if(STEPTAPE_HAVE_IMAGES)
  steptape_add_package(steptape_images_Development libsteptape-images-dev
    SECTION libdevel
    SUMMARY "TensorBoard event files from C++ - image folders"
    TEXT ${library_text} "Headers and static library to read folders of JPEG and PNG files for training."
    DEPENDS ${same_version} libjpeg-dev libpng-dev)
endif()

if(STEPTAPE_HAVE_MPI)
  steptape_add_package(steptape_mpi_Development libsteptape-mpi-dev
    SECTION libdevel
    SUMMARY "TensorBoard event files from C++ - MPI"
    TEXT ${library_text} "Headers and static library to log and train over Open MPI."
    DEPENDS ${same_version} libopenmpi-dev)
endif()

if(STEPTAPE_HAVE_TORCH)
  steptape_same_minor(torch libtorch-dev ${STEPTAPE_TORCH_VERSION})
  steptape_add_package(steptape_torch_Development libsteptape-torch-dev
    SECTION libdevel
    SUMMARY "TensorBoard event files from C++ - LibTorch"
    TEXT ${library_text}
      "Headers and static libraries for tensors, operator profiles,"
      "data-parallel training, and jobs that torchrun starts."
    DEPENDS ${same_version} ${torch})
endif()

# The publisher of a package is its contact, through the variables that Debian's own tools read.
set(CPACK_PACKAGE_CONTACT "Unpublished build <unpublished@steptape.invalid>")
if(NOT "$ENV{DEBFULLNAME}" STREQUAL "" AND NOT "$ENV{DEBEMAIL}" STREQUAL "")
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
# Each package has its own summary.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SOURCE steptape)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# CPack asks for this of all packages at once; those without a shared library get nothing.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
# Without this, the builder's umask would set the permissions of folders.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# Adds the other files that Debian's policy requires to the staged files of each package.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/add_documents.cmake)
set(CPACK_STEPTAPE_SOURCE_DIR ${PROJECT_SOURCE_DIR})
include(CPack)
