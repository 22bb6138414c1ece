# SPDX-License-Identifier: Apache-2.0
# Sets STEPTAPE_HAVE_GLOO: whether gloo's headers were found. gloo itself is inside LibTorch; its headers are not.
find_path(STEPTAPE_GLOO_INCLUDE_DIR gloo/algorithm.h)
mark_as_advanced(STEPTAPE_GLOO_INCLUDE_DIR)
set(STEPTAPE_HAVE_GLOO FALSE)
if(STEPTAPE_GLOO_INCLUDE_DIR)
  set(STEPTAPE_HAVE_GLOO TRUE)
endif()
