// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "steptape/base/export.h"

struct gzFile_s;

namespace steptape::detail::base {

/// Reads a file from start to end, and inflates it if it is gzipped.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT GzipFile {
 public:
  /// @throws Error(kIoError) with the operating system's error message if `path` cannot be opened.
  explicit GzipFile(std::string path);
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;
  ~GzipFile();

  const std::string& path() const { return path_; }

  /// Reads up to `size` bytes.
  ///
  /// @return the number of bytes read; 0 at the end of the file or of truncated gzip data.
  /// @throws Error(kDataLoss) if the gzip data is damaged; Error(kIoError) if the read fails.
  std::size_t readSome(void* data, std::size_t size);

  /// Reads `size` bytes.
  ///
  /// @throws Error(kDataLoss) if the file ends earlier or its gzip data is damaged; Error(kIoError)
  ///   if the read fails.
  void readExactly(void* data, std::size_t size);

  /// @throws Error(kDataLoss) if the file has more bytes.
  void expectEnd();

 private:
  std::string path_;
  gzFile_s* file_;
  std::uint64_t offset_ = 0;
};

}  // namespace steptape::detail::base
