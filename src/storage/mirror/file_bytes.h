// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/crc32c.h"
#include "base/file_descriptor.h"

namespace steptape::detail::storage {

/// Opens a regular file for reading; not a link, and without waiting for the writer of a FIFO.
/// `errno` says why if it is not open.
base::FileDescriptor openToRead(const std::string& path);

/// Reads up to `most` bytes at `offset`; 0 at the end and after a failure.
std::size_t readAt(const base::FileDescriptor& file, std::uint64_t offset, char* out,
                   std::size_t most);

/// Returns the checksum of the first `bytes` of a file; nothing if they cannot be read.
std::optional<base::Crc32c> checksumOf(const base::FileDescriptor& file, std::uint64_t bytes);

/// Returns whether the file has these bytes at `offset`.
bool hasBytes(const base::FileDescriptor& file, std::uint64_t offset, std::string_view bytes);

}  // namespace steptape::detail::storage
