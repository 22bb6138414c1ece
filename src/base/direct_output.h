// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace steptape::detail::base {

/// Writes a large file from the process's memory to the disk without the page cache (O_DIRECT).
///
/// The page cache costs a second copy of every byte in memory, and the pages displace files that
/// training reads. The disk reads an aligned buffer instead, which stays in the processor's cache.
/// On a file system without this feature, the bytes go through the page cache.
///
/// @threads Not thread-safe: one thread at a time.
class DirectOutput {
 public:
  /// @param descriptor An empty file, open for writing; stays the caller's.
  /// @throws std::bad_alloc.
  explicit DirectOutput(int descriptor);

  /// Appends `bytes`. @return false on failure, with the reason in errno.
  bool write(std::string_view bytes);
  /// Writes what write() still has in its buffer. The caller then syncs the file.
  /// @return false on failure, with the reason in errno.
  bool finish();

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };

  bool writeBuffer();
  bool isDirect() const;
  void setDirect(bool direct) const;

  const int descriptor_;
  std::unique_ptr<char, Free> buffer_;
  std::size_t used_ = 0;
};

}  // namespace steptape::detail::base
