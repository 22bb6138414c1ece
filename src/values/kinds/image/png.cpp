// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/got_expected.h"
#include "values/kinds/image/image.h"
#include "values/kinds/image/png_chunks.h"
#include "values/kinds/image/png_rows.h"

namespace steptape {
namespace {

detail::PngRows wholeOf(const Pixels& pixels) {
  const auto pixelBytes = static_cast<std::size_t>(pixels.channels);
  const std::size_t rowBytes = static_cast<std::size_t>(pixels.width) * pixelBytes;
  return {pixels.data.data(), static_cast<std::size_t>(pixels.height), rowBytes, rowBytes,
          pixelBytes};
}

void check(const Pixels& pixels) {
  detail::checkPngSize(pixels.width, pixels.height, pixels.channels);
  const detail::PngRows rows = wholeOf(pixels);
  if (pixels.data.size() != rows.bytes * rows.count) {
    detail::reject(std::to_string(pixels.data.size()) + " bytes for an image of " +
                       std::to_string(pixels.width) + " x " + std::to_string(pixels.height) +
                       " pixels with " + std::to_string(pixels.channels) + " channels",
                   std::to_string(rows.bytes * rows.count), "PNG");
  }
}

}  // namespace

std::string encodePng(const Pixels& pixels) {
  check(pixels);
  std::string png(detail::kPngSignature);
  detail::appendPngHeader(pixels.width, pixels.height, pixels.channels, &png);
  const std::size_t data = detail::beginPngChunk("IDAT", &png);
  detail::compressPngRows(wholeOf(pixels), &png);
  detail::finishPngChunk(data, &png);
  detail::appendPngChunk("IEND", {}, &png);
  return png;
}

}  // namespace steptape
