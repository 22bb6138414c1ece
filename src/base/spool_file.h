// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape::detail::base {

/// Space on disk for data that does not fit into memory. The first write creates the file, which
/// has no name: nothing remains of it, however the process ends.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT SpoolFile {
 public:
  /// @param prefix Start of the path that the file has until it is unlinked; selects the disk.
  explicit SpoolFile(std::string prefix) : prefix_(std::move(prefix)) {}
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  /// Appends to the file.
  /// @param offset Set to the position of the bytes in the file.
  Status append(const void* bytes, std::size_t size, std::uint64_t* offset);

  /// Reads `size` bytes at `offset`. REQUIRES: they were written.
  Status read(std::uint64_t offset, void* bytes, std::size_t size);

 private:
  Status open();
  Status systemError(const char* what) const;

  std::string prefix_;
  std::FILE* file_ = nullptr;
  std::uint64_t size_ = 0;
  bool isAtEnd_ = true;
};

}  // namespace steptape::detail::base
