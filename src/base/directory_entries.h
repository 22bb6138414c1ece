// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "steptape/base/export.h"

namespace steptape::detail {

/// The entries of a directory.
struct DirectoryEntry {
  std::string name;
  bool isDirectory = false;  ///< Or a link to one.
  bool isLink = false;
};

/// Appends what `directory` holds to `*entries`, in any order; all but "." and "..".
///
/// In the place of std::filesystem::directory_iterator, with which libstdc++ ends the process where
/// an allocation fails.
///
/// @return 0, or the errno of what could not be read; `*entries` has what could.
/// @throws std::bad_alloc
STEPTAPE_EXPORT int listDirectory(const std::string& directory,
                                  std::vector<DirectoryEntry>* entries);

}  // namespace steptape::detail
