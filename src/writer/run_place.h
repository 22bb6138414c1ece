// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "steptape/base/export.h"

namespace steptape::detail {

/// Where a run directory is, for another process: it may have another working directory, and the
/// directory may have been moved.
struct RunPlace {
  std::string directory;  ///< Absolute and without links, if it exists.
  std::uint64_t device = 0;
  std::uint64_t inode = 0;  ///< With `device`, the directory itself; 0: there is none.
};

STEPTAPE_EXPORT RunPlace placeOf(const std::string& directory);

}  // namespace steptape::detail
