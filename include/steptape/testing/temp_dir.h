// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "steptape/base/export.h"

namespace steptape::testing {

/// A new, empty directory that is removed, with all it holds, at the end of the scope.
///
/// Lies where the system keeps temporary files (`TMPDIR`); its name is new for every object, so
/// that tests may run side by side.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT TempDir {
 public:
  /// @throws Error(kIoError) if the directory cannot be made.
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  /// Removes the directory; never throws.
  ~TempDir();

  const std::filesystem::path& path() const { return path_; }
  /// The path as the string that writers and readers take.
  std::string string() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace steptape::testing
