// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/image/png_chunks.h"

#include "base/got_expected.h"

#include <zlib.h>

namespace steptape::detail::values {
namespace {

/// zlib's counts have 32 bits, and so has a chunk's length, of which PNG uses 31.
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30;
constexpr std::size_t kLengthBytes = 4;

const Bytef* asBytes(const char* data) {
  return reinterpret_cast<const Bytef*>(data);
}

}  // namespace

void appendBigEndian16(std::uint16_t value, std::string* bytes) {
  *bytes += static_cast<char>(value >> 8);
  *bytes += static_cast<char>(value & 0xFF);
}

void appendBigEndian32(std::uint32_t value, std::string* bytes) {
  appendBigEndian16(static_cast<std::uint16_t>(value >> 16), bytes);
  appendBigEndian16(static_cast<std::uint16_t>(value & 0xFFFF), bytes);
}

std::size_t beginPngChunk(std::string_view type, std::string* png) {
  const std::size_t start = png->size();
  png->append(kLengthBytes, '\0').append(type);
  return start;
}

void finishPngChunk(std::size_t start, std::string* png) {
  const std::size_t typeAt = start + kLengthBytes;
  const std::size_t typeAndData = png->size() - typeAt;
  std::string length;
  appendBigEndian32(static_cast<std::uint32_t>(typeAndData - 4), &length);
  png->replace(start, kLengthBytes, length);
  const uLong crc = crc32(0, asBytes(png->data() + typeAt), static_cast<uInt>(typeAndData));
  appendBigEndian32(static_cast<std::uint32_t>(crc), png);
}

void appendPngChunk(std::string_view type, std::string_view data, std::string* png) {
  const std::size_t start = beginPngChunk(type, png);
  png->append(data);
  finishPngChunk(start, png);
}

void appendPngHeader(int width, int height, int channels, std::string* png) {
  constexpr char kGray = 0;
  constexpr char kRgb = 2;
  constexpr char kRgbAndAlpha = 6;
  const std::size_t start = beginPngChunk("IHDR", png);
  appendBigEndian32(static_cast<std::uint32_t>(width), png);
  appendBigEndian32(static_cast<std::uint32_t>(height), png);
  *png += '\x08';  // bits per channel
  *png += channels == 1 ? kGray : channels == 3 ? kRgb : kRgbAndAlpha;
  png->append(3, '\0');  // deflate, the five basic filters, not interlaced
  finishPngChunk(start, png);
}

void checkPngSize(std::int64_t width, std::int64_t height, std::int64_t channels) {
  const auto require = [&](bool holds, const char* expected) {
    if (!holds) {
      base::reject("an image of " + std::to_string(width) + " x " + std::to_string(height) +
                       " pixels with " + std::to_string(channels) + " channels",
                   expected, "PNG");
    }
  };
  require(width > 0 && height > 0, "positive sides");
  require(channels == 1 || channels == 3 || channels == 4, "1, 3 or 4 channels");
  // With such small sides, the products do not overflow.
  require(width <= kMaxBytes && height <= kMaxBytes && width * channels * height <= kMaxBytes,
          "at most 1 GiB");
}

}  // namespace steptape::detail::values
