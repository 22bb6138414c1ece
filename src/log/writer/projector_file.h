// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/status.h"

namespace steptape::detail::log {

/// A file that gets its name when it is complete, and then replaces an existing file.
///
/// Until commit(), its name ends in ".part"; without commit(), it is removed.
///
/// @threads Not thread-safe: one thread at a time.
class ProjectorFile {
 public:
  explicit ProjectorFile(std::string path);
  ProjectorFile(const ProjectorFile&) = delete;
  ProjectorFile& operator=(const ProjectorFile&) = delete;
  ~ProjectorFile();

  /// @return kIoError with the operating system's error message; then append nothing more.
  Status append(std::string_view bytes);
  /// REQUIRES: append() was called and has not failed.
  Status commit();

 private:
  Status open();
  Status systemError(const char* what, int error) const;
  void close();

  const std::string path_;
  const std::string part_;
  int descriptor_ = -1;
  bool isThere_ = false;  // exists as part_
};

}  // namespace steptape::detail::log
