// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

#include "base/direct_output.h"

namespace steptape::detail::base {

/// How the names of temporary files begin. A job that dies leaves them.
inline constexpr std::string_view kTemporaryPrefix = ".steptape-";

/// A file that appears under its name when it is whole, or never:
///
///     ReplacementFile file("runs/scalars.json");
///     status = file.open();  file.write(bytes);  status = file.finish();
///     status = file.appear(/*overwrite=*/true);
///
/// Until then, the file is in the same directory under a name that no reader looks for. The
/// destructor removes a file that has not appeared.
///
/// Failures are kIoError with the path and the operating system's error message. The first failure
/// stays: every later call returns it again, so that checking the last call is sufficient.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT ReplacementFile {
 public:
  /// @param permissions As for chmod(2). Default: those of any new file.
  explicit ReplacementFile(std::string path, std::optional<unsigned> permissions = {})
      : path_(std::move(path)), permissions_(permissions) {}
  ReplacementFile(const ReplacementFile&) = delete;
  ReplacementFile& operator=(const ReplacementFile&) = delete;
  ~ReplacementFile();

  Status open();
  /// Lets write() bypass the page cache, if the file system can: for a file that is large and not
  /// read soon. REQUIRES: open() has succeeded and nothing is written. @throws std::bad_alloc.
  void bypassPageCache();
  /// Appends `bytes`. status() and finish() report a failure.
  void write(std::string_view bytes);
  /// Returns the first failure.
  const Status& status() const { return status_; }

  /// Waits until the bytes are on the disk.
  Status finish();

  /// Renames the file to its final name.
  /// @return kFailedPrecondition if a file of this name exists and `overwrite` is false.
  Status appear(bool overwrite);

 private:
  bool writeBytes(std::string_view bytes);
  bool flush();
  Status fail();

  std::string path_;
  std::optional<unsigned> permissions_;
  std::string temporary_;  // empty before open() and after appear()
  std::FILE* file_ = nullptr;
  std::optional<DirectOutput> direct_;
  Status status_;
};

/// Gives the file `path` the name `name`: as a hard link or, if the file system has no hard links,
/// by renaming it.
/// @return kFailedPrecondition if a file of that name exists.
STEPTAPE_EXPORT Status addName(const std::string& path, const std::string& name);

}  // namespace steptape::detail::base
