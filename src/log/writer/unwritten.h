// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

namespace steptape::detail::log {

/// What a process has logged for an event file that does not hold it yet: the file's first `offset`
/// bytes and then `bytes` are all that was logged for it, in order, each value once.
struct Unwritten {
  std::string directory;     ///< Of the file: absolute and without links.
  std::string file;          ///< Its name; empty: there is none yet, and `offset` is 0.
  std::string newFile;       ///< If there is none: a name after those of the process's other files.
  std::uint64_t offset = 0;  ///< Where whole records of the file end.
  /// Whole records. They hold the values that the process will write, but need not be the same
  /// bytes. Empty: nothing is missing after `offset`.
  std::string bytes;
  bool isAlive = false;  ///< Whether the process lives.

  bool operator==(const Unwritten& other) const {
    const auto fields = [](const Unwritten& one) {
      return std::tie(one.directory, one.file, one.newFile, one.offset, one.isAlive, one.bytes);
    };
    return fields(*this) == fields(other);
  }
};

}  // namespace steptape::detail::log
