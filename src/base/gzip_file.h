// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "steptape/base/export.h"

struct gzFile_s;

namespace steptape::detail {

/// A file to read from start to end, inflated on the way if it is gzipped.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT GzipFile {
 public:
  /// @throws Error(kIoError) with the system's words if `path` cannot be opened.
  explicit GzipFile(std::string path);
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;
  ~GzipFile();

  const std::string& path() const { return path_; }

  /// Reads up to `size` bytes.
  ///
  /// @return how many; 0 at the end of the file, and where its gzip data ends too early.
  /// @throws Error(kDataLoss) if its gzip data is damaged; Error(kIoError) if the system cannot
  ///         read.
  std::size_t readSome(void* data, std::size_t size);

  /// Reads `size` bytes.
  ///
  /// @throws Error(kDataLoss) if the file ends before or its gzip data is damaged; Error(kIoError)
  ///         if the system cannot read it.
  void readExactly(void* data, std::size_t size);

  /// @throws Error(kDataLoss) if there are more bytes.
  void expectEnd();

 private:
  std::string path_;
  gzFile_s* file_;
  std::uint64_t offset_ = 0;
};

}  // namespace steptape::detail
