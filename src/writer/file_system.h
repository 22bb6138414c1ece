// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace steptape::detail {

/// The system calls that the writer makes, and their errors: every method returns 0 or an errno.
/// The one place where tests make a disk full, slow or gone.
///
/// @threads Thread-safe.
class FileSystem {
 public:
  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem();

  /// Makes `path` and its parents; fine if they are there already.
  virtual int createDirectories(const std::string& path);
  /// The names in `path`.
  virtual int list(const std::string& path, std::vector<std::string>* names);
  /// Opens `path` for writing, which must not exist: EEXIST otherwise.
  virtual int createExclusive(const std::string& path, int* descriptor);
  /// Opens `path`, which must exist, for appending.
  virtual int openToAppend(const std::string& path, int* descriptor);
  /// One write(2), again after EINTR; `*written` may be less than `bytes`.
  virtual int write(int descriptor, std::string_view bytes, std::size_t* written);
  /// The whole of a small file.
  virtual int read(const std::string& path, std::string* bytes);
  /// Gives `from` the name `to`, which then is no other file's.
  virtual int rename(const std::string& from, const std::string& to);
  virtual int remove(const std::string& path);
  virtual int truncate(int descriptor, std::uint64_t size);
  /// How many names the open file still has: 0 once it was deleted.
  virtual int linkCount(int descriptor, std::uint64_t* links);
  virtual void close(int descriptor);

  /// The one in use: the real one unless a test has set another.
  static FileSystem& current();
  /// Null sets the real one again. REQUIRES: no SummaryWriter exists.
  static void setForTesting(FileSystem* fileSystem);
};

}  // namespace steptape::detail
