// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace steptape {

// The framing of event files. Prose, grammar and a worked example: docs/event_file_format.md.
// @source tensorflow/core/lib/io/record_writer.cc, format comment

/// Bytes before a payload: u64 length, u32 masked CRC of those eight bytes; little-endian.
inline constexpr std::size_t kHeaderBytes = 8 + 4;

/// Bytes after a payload: u32 masked CRC of the payload; little-endian.
inline constexpr std::size_t kFooterBytes = 4;

/// Bytes around a payload.
inline constexpr std::size_t kFramingBytes = kHeaderBytes + kFooterBytes;

/// The longest payload that a reader accepts. Protocol Buffers reject longer messages, so that a
/// greater length can only be damage.
inline constexpr std::uint64_t kMaxPayloadBytes = 0x7fffffff;

}  // namespace steptape
