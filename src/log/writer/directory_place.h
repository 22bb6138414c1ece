// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "steptape/base/export.h"

namespace steptape::detail::log {

/// A directory itself, whatever its path is. File systems such as ext4 give the inode of a deleted
/// directory to the next new one, so the time of its creation belongs to it.
struct DirectoryIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;    ///< 0: there is no directory.
  std::uint64_t created = 0;  ///< Nanoseconds since 1970; 0: the file system does not know.

  bool exists() const { return inode != 0; }
  /// Returns whether both are one directory that exists. A time that is not known does not count.
  bool isSameAs(const DirectoryIdentity& other) const {
    return exists() && device == other.device && inode == other.inode &&
           (created == other.created || created == 0 || other.created == 0);
  }
};

/// Where a run directory is, for another process: it may have another working directory, and the
/// directory may have been moved.
struct DirectoryPlace {
  std::string directory;  ///< Absolute and without links, if it exists.
  DirectoryIdentity identity;
};

STEPTAPE_EXPORT DirectoryPlace placeOf(const std::string& directory);

}  // namespace steptape::detail::log
