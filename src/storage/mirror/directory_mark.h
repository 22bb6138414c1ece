// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"

namespace steptape::detail::storage {

/// What the file `.steptape_mirror` of a directory says.
struct DirectoryMark {
  /// By which later programs know the objects of the directory as its own; 32 hexadecimal digits.
  /// Empty: there is none, and none could be made.
  std::string mark;
  std::string url;  ///< Of the mirror that a writer has sent it to; empty: none.
};

/// Reads the file; both empty if there is none.
STEPTAPE_EXPORT DirectoryMark readMark(const std::string& directory);

/// Reads the file, or makes it with a new mark.
///
/// @param url Is kept in it if not empty.
STEPTAPE_EXPORT DirectoryMark takeMark(const std::string& directory, const std::string& url = {});

}  // namespace steptape::detail::storage
