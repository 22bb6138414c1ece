// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "steptape/base/export.h"

namespace steptape::testing {

/// A new, empty directory that is removed with all its contents at the end of the scope.
///
/// It lies in the operating system's directory for temporary files (`TMPDIR`) and has a unique
/// name, so tests may run in parallel.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT TempDir {
 public:
  /// @throws Error(kIoError) if the directory cannot be created.
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  /// Removes the directory; never throws.
  ~TempDir();

  const std::filesystem::path& path() const { return path_; }
  /// Returns the path as a string, as writers and readers take it.
  std::string string() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace steptape::testing
