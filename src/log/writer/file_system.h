// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace steptape::detail::log {

/// The system calls of the writer. Every method returns 0 or an errno. Tests replace it to simulate
/// a disk that is full, slow or removed.
///
/// @threads Thread-safe.
class FileSystem {
 public:
  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem();

  /// Creates `path` and its parents; succeeds if they exist.
  virtual int createDirectories(const std::string& path);
  /// Lists the names in `path`.
  virtual int list(const std::string& path, std::vector<std::string>* names);
  /// Creates `path` and opens it for writing; EEXIST if it exists.
  virtual int createExclusive(const std::string& path, int* descriptor);
  /// Opens the existing file `path` for appending.
  virtual int openToAppend(const std::string& path, int* descriptor);
  /// Calls write(2), again after EINTR; `*written` may be less than `bytes`.
  virtual int write(int descriptor, std::string_view bytes, std::size_t* written);
  /// Reads a small file completely.
  virtual int read(const std::string& path, std::string* bytes);
  /// Renames `from` to `to`, which replaces an existing file.
  virtual int rename(const std::string& from, const std::string& to);
  virtual int remove(const std::string& path);
  virtual int truncate(int descriptor, std::uint64_t size);
  /// Returns the number of names of an open file: 0 if it was deleted.
  virtual int linkCount(int descriptor, std::uint64_t* links);
  virtual void close(int descriptor);

  /// Returns the current object: the real file system, unless a test has set another one.
  static FileSystem& current();
  /// Null restores the real file system. REQUIRES: no SummaryWriter exists.
  static void setForTesting(FileSystem* fileSystem);
};

}  // namespace steptape::detail::log
