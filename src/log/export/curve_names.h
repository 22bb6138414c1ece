// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tuple>
#include <vector>

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

/// Changes names so that no two are equal: the tag "b/c" of the run "a" and the tag "c" of the run
/// "a/b" have the same path. Of equal names, the first by directory and tag stays; the others end
/// in " (2)", " (3)" and so on.
///
/// @param changes Receives a sentence about each change, after what it holds.
void makeDistinct(std::vector<CurveName>* names, std::vector<std::string>* changes);

}  // namespace steptape::detail::log
