// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape {

/// Bytes that can be read at any position and may still grow at their end.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource();

  /// Reads up to `size` bytes at `offset` to `data`.
  ///
  /// @param got Set to the bytes read, on failure too. 0 with success means that the source ends at
  ///            `offset` or before it, for now.
  /// @return kIoError, with the reason, if the source failed.
  virtual Status read(std::uint64_t offset, char* data, std::size_t size,
                      std::size_t* got) const = 0;

  /// What messages call this source, such as a file's path.
  virtual const std::string& name() const = 0;
};

/// A file, followed by its descriptor: renaming or deleting it changes nothing.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT FileByteSource final : public ByteSource {
 public:
  /// @throws Error(kIoError) with the path and the system's reason if the file cannot be opened, or
  ///         with its kind if it is no regular file: a FIFO is not waited for.
  explicit FileByteSource(const std::string& path);
  ~FileByteSource() override;

  Status read(std::uint64_t offset, char* data, std::size_t size, std::size_t* got) const override;
  const std::string& name() const override { return path_; }

 private:
  std::string path_;
  int descriptor_;
};

/// Bytes in memory: for records that came over a network, and for tests.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT MemoryByteSource final : public ByteSource {
 public:
  explicit MemoryByteSource(std::string bytes = {}, std::string name = "memory");

  /// Adds bytes at the end, as a file that is still written grows.
  void append(std::string_view bytes) { bytes_.append(bytes); }

  Status read(std::uint64_t offset, char* data, std::size_t size, std::size_t* got) const override;
  const std::string& name() const override { return name_; }

 private:
  std::string bytes_;
  std::string name_;
};

}  // namespace steptape
