// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "steptape/base/status.h"

namespace steptape::detail {

/// A file that appears under its name when it is whole, or never:
///
///     ReplacementFile file("runs/events.out.tfevents.1", 0644);
///     status = file.open();  status = file.write(bytes);  status = file.finish();
///     status = file.appear(/*overwrite=*/false);
///
/// Until then it lies in the same directory under a name that no reader looks for. Whatever was not
/// made to appear is removed by the destructor.
///
/// @threads Not thread-safe: one thread at a time.
class ReplacementFile {
 public:
  ReplacementFile(std::string path, unsigned permissions)
      : path_(std::move(path)), permissions_(permissions) {}
  ReplacementFile(const ReplacementFile&) = delete;
  ReplacementFile& operator=(const ReplacementFile&) = delete;
  ~ReplacementFile();

  Status open();
  Status write(std::string_view bytes);

  /// Waits until the bytes are on the disk.
  Status finish();

  /// Gives the file its name.
  /// @return kFailedPrecondition if there is a file of this name and `overwrite` is false.
  Status appear(bool overwrite);

 private:
  Status systemError() const;

  std::string path_;
  unsigned permissions_;
  std::string temporary_;  // empty while there is none
  int descriptor_ = -1;
};

/// Gives the file `path` a second name, or where the file system knows no such thing another one.
/// @return kFailedPrecondition if there is a file of that name.
Status addName(const std::string& path, const std::string& name);

}  // namespace steptape::detail
