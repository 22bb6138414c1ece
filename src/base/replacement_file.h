// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape::detail {

/// How the names of temporary files begin. A job that dies leaves them.
inline constexpr std::string_view kTemporaryPrefix = ".steptape-";

/// A file that appears under its name when it is whole, or never:
///
///     ReplacementFile file("runs/scalars.json");
///     status = file.open();  file.write(bytes);  status = file.finish();
///     status = file.appear(/*overwrite=*/true);
///
/// Until then it lies in the same directory under a name that no reader looks for. Whatever was not
/// made to appear is removed by the destructor.
///
/// Failures are kIoError with the path and the system's reason. The first one stays: each later
/// call returns it again, so that only the last one need be asked.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT ReplacementFile {
 public:
  /// @param permissions As chmod(2) takes them; those of any new file where there are none.
  explicit ReplacementFile(std::string path, std::optional<unsigned> permissions = {})
      : path_(std::move(path)), permissions_(permissions) {}
  ReplacementFile(const ReplacementFile&) = delete;
  ReplacementFile& operator=(const ReplacementFile&) = delete;
  ~ReplacementFile();

  Status open();
  /// A failure is in status(), and in what finish() returns.
  void write(std::string_view bytes);
  /// The first failure.
  const Status& status() const { return status_; }

  /// Waits until the bytes are on the disk.
  Status finish();

  /// Gives the file its name.
  /// @return kFailedPrecondition if there is a file of this name and `overwrite` is false.
  Status appear(bool overwrite);

 private:
  Status fail();

  std::string path_;
  std::optional<unsigned> permissions_;
  std::string temporary_;  // empty while there is none
  std::FILE* file_ = nullptr;
  Status status_;
};

/// Gives the file `path` a second name, or where the file system knows no such thing another one.
/// @return kFailedPrecondition if there is a file of that name.
STEPTAPE_EXPORT Status addName(const std::string& path, const std::string& name);

}  // namespace steptape::detail
