// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace steptape::detail::values {

inline constexpr std::string_view kPngSignature = "\x89PNG\r\n\x1a\n";

/// Appends a number in PNG's byte order, most significant byte first.
void appendBigEndian16(std::uint16_t value, std::string* bytes);
void appendBigEndian32(std::uint32_t value, std::string* bytes);

/// Begins a chunk whose data is appended next.
///
/// @return the argument for finishPngChunk().
std::size_t beginPngChunk(std::string_view type, std::string* png);
/// Sets the length of the chunk and appends its checksum.
void finishPngChunk(std::size_t start, std::string* png);
void appendPngChunk(std::string_view type, std::string_view data, std::string* png);

/// Appends the IHDR chunk of an image with 8 bits per channel.
void appendPngHeader(int width, int height, int channels, std::string* png);

/// @throws Error(kInvalidArgument) if encodePng() does not accept an image of this size.
void checkPngSize(std::int64_t width, std::int64_t height, std::int64_t channels);

}  // namespace steptape::detail::values
