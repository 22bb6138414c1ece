// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "base/replacement_file.h"

namespace steptape::tools {

/// The output of a command, written piece by piece: to a file that appears under its name once it
/// is complete, or to standard output if no file is named.
///
/// Devices and pipes are written directly.
///
/// @threads Not thread-safe: one thread at a time.
class OutputFile {
 public:
  /// @param path Empty: standard output.
  /// @throws Error(kIoError) with the path and the operating system's message, as all below.
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(std::string_view bytes);

  /// Checks that everything was written, and gives the file its name.
  void finish();

 private:
  [[noreturn]] void fail() const;

  std::string path_;
  std::optional<detail::base::ReplacementFile> file_;
  std::FILE* stream_ = nullptr;  // a device or a pipe
};

}  // namespace steptape::tools
