// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/status.h"

namespace steptape::detail {

/// A file that gets its name once it is whole, replacing an existing file.
///
/// Until commit() its name has ".part" at the end; without commit() it is removed.
///
/// @threads Not thread-safe: one thread at a time.
class ProjectorFile {
 public:
  explicit ProjectorFile(std::string path);
  ProjectorFile(const ProjectorFile&) = delete;
  ProjectorFile& operator=(const ProjectorFile&) = delete;
  ~ProjectorFile();

  /// @return kIoError with the system's words; nothing more may be appended then.
  Status append(std::string_view bytes);
  /// REQUIRES: append() was called, and did not fail.
  Status commit();

 private:
  Status open();
  Status systemError(const char* what, int error) const;
  void close();

  const std::string path_;
  const std::string part_;
  int descriptor_ = -1;
  bool isThere_ = false;  // under the name part_
};

}  // namespace steptape::detail
