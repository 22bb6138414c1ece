// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "steptape/base/export.h"
#include "steptape/base/status.h"

namespace steptape {

/// Bytes that can be read at any offset, and that may still grow at the end.
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
  /// @param got Set to the number of bytes read, also on failure. 0 on success: the source ends at
  ///            or before `offset`, for now.
  /// @return kIoError with the reason if the source failed.
  virtual Status read(std::uint64_t offset, char* data, std::size_t size,
                      std::size_t* got) const = 0;

  /// Returns the name for messages, such as the path of a file.
  virtual const std::string& name() const = 0;
};

/// A file that stays open: renaming or deleting it does not affect reading.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT FileByteSource final : public ByteSource {
 public:
  /// @throws Error(kIoError) with the path and the operating system's error message if the file
  ///         cannot be opened, or with its kind if it is not a regular file. Never waits for a
  ///         FIFO.
  explicit FileByteSource(const std::string& path);
  ~FileByteSource() override;

  Status read(std::uint64_t offset, char* data, std::size_t size, std::size_t* got) const override;
  const std::string& name() const override { return path_; }

 private:
  std::string path_;
  int descriptor_;
};

/// Bytes in memory, for records from a network and for tests.
///
/// @threads Thread-compatible: const methods may run concurrently.
class STEPTAPE_EXPORT MemoryByteSource final : public ByteSource {
 public:
  explicit MemoryByteSource(std::string bytes = {}, std::string name = "memory");

  /// Appends bytes, as a writer appends to a file.
  void append(std::string_view bytes) { bytes_.append(bytes); }

  Status read(std::uint64_t offset, char* data, std::size_t size, std::size_t* got) const override;
  const std::string& name() const override { return name_; }

 private:
  std::string bytes_;
  std::string name_;
};

}  // namespace steptape
