// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace steptape::detail::events {

// The framing of event files. docs/event_file_format.md has a description, a grammar and an
// example.
// @source tensorflow/core/lib/io/record_writer.cc, format comment

/// Bytes before a payload: u64 length, u32 masked CRC of these eight bytes; little-endian.
inline constexpr std::size_t kHeaderBytes = 8 + 4;

/// Bytes after a payload: u32 masked CRC of the payload; little-endian.
inline constexpr std::size_t kFooterBytes = 4;

/// Bytes of header and footer.
inline constexpr std::size_t kFramingBytes = kHeaderBytes + kFooterBytes;

/// The longest payload that a reader accepts. Protocol Buffers rejects longer messages, so a larger
/// length is certainly damage.
inline constexpr std::uint64_t kMaxPayloadBytes = 0x7fffffff;

}  // namespace steptape::detail::events
