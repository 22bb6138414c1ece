# SPDX-License-Identifier: Apache-2.0
# Finds libjpeg-turbo and libpng and declares steptape::image_libraries, or sets STEPTAPE_IMAGES_PROBLEM. Installed with
# the package, because a static archive leaves linking them to its consumer.
if(NOT TARGET steptape::image_libraries)
  find_package(JPEG QUIET)
  find_package(PNG QUIET)
  if(JPEG_FOUND)
    # Other libjpegs cannot decode a part of the columns.
    file(STRINGS "${JPEG_INCLUDE_DIR}/jpeglib.h" STEPTAPE_JPEG_CROP REGEX "jpeg_crop_scanline" LIMIT_COUNT 1)
  endif()
  if(NOT JPEG_FOUND OR NOT STEPTAPE_JPEG_CROP)
    set(STEPTAPE_IMAGES_PROBLEM "libjpeg-turbo 1.5 or later was not found")
  elseif(NOT PNG_FOUND)
    set(STEPTAPE_IMAGES_PROBLEM "libpng was not found")
  else()
    add_library(steptape::image_libraries INTERFACE IMPORTED)
    target_link_libraries(steptape::image_libraries INTERFACE JPEG::JPEG PNG::PNG)
  endif()
endif()
