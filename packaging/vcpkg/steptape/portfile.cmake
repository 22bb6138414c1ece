# SPDX-License-Identifier: Apache-2.0
# Not run so far: vcpkg's downloads were not reachable. tests/packages/recipes_test.py compares its options and
# version with the project's.
#
#   vcpkg install steptape --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
  FEATURES
    figure STEPTAPE_WITH_FIGURE
    images STEPTAPE_WITH_IMAGES
    mpi STEPTAPE_WITH_MPI
    tools STEPTAPE_BUILD_TOOLS
    tools STEPTAPE_WITH_SERVER
    torch STEPTAPE_WITH_TORCH)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${FEATURE_OPTIONS}
    -DSTEPTAPE_BUILD_TESTS=OFF
    -DSTEPTAPE_BUILD_EXAMPLES=OFF
    -DSTEPTAPE_BUILD_BENCHMARKS=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/steptape)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES steptape AUTO_CLEAN)
endif()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
