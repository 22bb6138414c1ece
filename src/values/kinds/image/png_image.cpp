// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "steptape/values/figure_traits.h"

#include "base/text.h"
#include "values/kinds/image/png_chunks.h"
#include "values/kinds/reject.h"

#include <zlib.h>

namespace steptape {
namespace {

constexpr std::size_t kHeaderBytes = 13;
/// Bytes of length, type and checksum of a chunk.
constexpr std::size_t kChunkOverhead = 12;
/// Maximum of lengths and sides.
constexpr std::uint32_t kLargest = 0x7FFFFFFF;

std::uint32_t bigEndian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes.substr(0, 4)) {
    value = value << 8 | static_cast<unsigned char>(byte);
  }
  return value;
}

/// A view of one chunk of a file.
struct Chunk {
  std::string_view type;
  std::string_view data;
  std::uint32_t crc;
  std::size_t end;  ///< Start of the next chunk.
};

Chunk chunkAt(std::string_view file, std::size_t at) {
  const std::string_view rest = file.substr(at);
  if (rest.size() < kChunkOverhead || bigEndian(rest) > rest.size() - kChunkOverhead) {
    detail::base::reject(
        "a PNG file that ends inside a chunk, after " + std::to_string(file.size()) + " bytes",
        "a whole file", "pngImage");
  }
  const std::size_t length = bigEndian(rest);
  return {rest.substr(4, 4), rest.substr(8, length), bigEndian(rest.substr(8 + length)),
          at + kChunkOverhead + length};
}

/// Reads a width or a height.
int sideOf(std::string_view bytes) {
  const std::uint32_t side = bigEndian(bytes);
  if (side == 0 || side > kLargest) {
    detail::base::reject("a side of " + std::to_string(side) + " pixels", "1 to 2147483647",
                         "pngImage");
  }
  return static_cast<int>(side);
}

bool isHeader(const Chunk& chunk) {
  if (chunk.type != "IHDR" || chunk.data.size() != kHeaderBytes) {
    return false;
  }
  // The checksum includes the type, which precedes the data.
  const auto* typed = reinterpret_cast<const Bytef*>(chunk.type.data());
  return crc32(0, typed, static_cast<uInt>(4 + kHeaderBytes)) == chunk.crc;
}

}  // namespace

PngImage pngImage(std::string bytes) {
  if (!detail::base::startsWith(bytes, detail::values::kPngSignature)) {
    detail::base::reject("bytes without the signature of a PNG file", "a PNG file", "pngImage");
  }
  Chunk chunk = chunkAt(bytes, detail::values::kPngSignature.size());
  if (!isHeader(chunk)) {
    detail::base::reject("a first chunk that is not an intact header (IHDR)", "a PNG file",
                         "pngImage");
  }
  const int width = sideOf(chunk.data);
  const int height = sideOf(chunk.data.substr(4));
  while (chunk.type != "IEND") {
    chunk = chunkAt(bytes, chunk.end);
  }
  return {width, height, std::move(bytes)};
}

CapturedFigure FigureTraits<PngImage>::capture(const PngImage& image) {
  auto checked = std::make_shared<const PngImage>(pngImage(image.bytes));
  CapturedFigure captured;
  captured.bytes = checked->bytes.size();
  captured.draw = [checked = std::move(checked)] { return *checked; };
  return captured;
}

}  // namespace steptape
