// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "steptape/base/export.h"

namespace steptape::detail::log {

/// What an export calls a curve, and which curve it is.
struct CurveName {
  std::string name;       ///< Valid UTF-8.
  std::string directory;  ///< Of its run.
  std::string tag;

  bool operator<(const CurveName& other) const {
    return std::tie(name, directory, tag) < std::tie(other.name, other.directory, other.tag);
  }
};

/// A name that another one had.
struct NameChange {
  std::size_t index = 0;
  std::string before;
};

/// Changes names so that no two are equal. Of equal names, the first stays; the others end in
/// " (2)", " (3)" and so on.
STEPTAPE_EXPORT std::vector<NameChange> makeDistinct(std::vector<std::string>* names);

/// Changes names so that no two are equal: the tag "b/c" of the run "a" and the tag "c" of the run
/// "a/b" have the same path. The first one is that by directory and tag.
///
/// @param changes Receives a sentence about each change, after what it holds.
void makeDistinct(std::vector<CurveName>* names, std::vector<std::string>* changes);

}  // namespace steptape::detail::log
