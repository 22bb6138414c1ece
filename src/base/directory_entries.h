// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "steptape/base/export.h"

namespace steptape::detail::base {

/// The entries of a directory.
struct DirectoryEntry {
  std::string name;
  bool isDirectory = false;  ///< True also for a link to a directory.
  bool isLink = false;
};

/// Appends the entries of `directory` to `*entries`, in any order, without "." and "..".
///
/// Replaces std::filesystem::directory_iterator: in libstdc++, it terminates the process if an
/// allocation fails.
///
/// @return 0, or the errno of a failed read; `*entries` then holds the entries that were readable.
/// @throws std::bad_alloc
STEPTAPE_EXPORT int listDirectory(const std::string& directory,
                                  std::vector<DirectoryEntry>* entries);

}  // namespace steptape::detail::base
