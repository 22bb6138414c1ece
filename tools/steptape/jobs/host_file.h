// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape::tools {

/// A temporary file for the launcher, which the destructor removes.
class HostFile {
 public:
  /// @param content Makes no file if it is empty.
  /// @throws Error(kIoError) if it cannot be written.
  explicit HostFile(const std::string& content);
  ~HostFile();
  HostFile(const HostFile&) = delete;
  HostFile& operator=(const HostFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace steptape::tools
