// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

struct gzFile_s;

namespace steptape::detail {

/// A file to read from start to end, inflated on the way if it is gzipped.
///
/// Not thread-safe: one thread at a time.
class GzipFile {
 public:
  /// @throws Error(kIoError) with the system's words if `path` cannot be opened.
  explicit GzipFile(std::string path);
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;
  ~GzipFile();

  const std::string& path() const { return path_; }

  /// Reads `size` bytes.
  ///
  /// @throws Error(kDataLoss) if the file ends before or its gzip data is damaged; Error(kIoError)
  ///         if the system cannot read it.
  void readExactly(void* data, std::size_t size);

  /// @throws Error(kDataLoss) if the file goes on.
  void expectEnd();

 private:
  std::size_t readSome(void* data, std::size_t size);

  std::string path_;
  gzFile_s* file_;
  std::uint64_t offset_ = 0;
};

/// Such as "00 1f 8b".
std::string hexBytes(const std::uint8_t* data, std::size_t size);

}  // namespace steptape::detail
