// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace steptape::detail::log {

/// Makes a file or directory name of `name`: never empty, `.` or `..`, without a slash, and short
/// enough for any file system. Different names stay different.
std::string fileNameFrom(std::string_view name);

/// Writes the images and audio of an export as files, `<run>/<tag>/<step>_<n>.<format>`.
///
/// @threads Not thread-safe: one thread at a time.
class MediaFiles {
 public:
  explicit MediaFiles(std::string directory) : directory_(std::move(directory)) {}

  /// Sets run, tag and step of the next files.
  void at(const std::string& run, const std::string& tag, std::int64_t step);

  /// Writes a file; replaces a file of an earlier export.
  /// @return its path.
  /// @throws Error(kIoError)
  std::string write(std::string_view bytes);

 private:
  using Steps = std::unordered_map<std::int64_t, int>;

  std::string directory_;
  std::map<std::string, Steps> written_;  // number of files, by directory and step
  std::map<std::string, Steps>::value_type* current_ = nullptr;
  std::int64_t step_ = 0;
};

}  // namespace steptape::detail::log
