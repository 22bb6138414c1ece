// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/got_expected.h"
#include "values/kinds/image/image.h"
#include "values/kinds/image/png_chunks.h"
#include "values/kinds/image/png_rows.h"

namespace steptape {
namespace {

detail::values::PngRows wholeOf(const detail::values::Pixels& pixels) {
  const auto pixelBytes = static_cast<std::size_t>(pixels.channels);
  const std::size_t rowBytes = static_cast<std::size_t>(pixels.width) * pixelBytes;
  return {pixels.data.data(), static_cast<std::size_t>(pixels.height), rowBytes, rowBytes,
          pixelBytes};
}

void check(const detail::values::Pixels& pixels) {
  detail::values::checkPngSize(pixels.width, pixels.height, pixels.channels);
  const detail::values::PngRows rows = wholeOf(pixels);
  if (pixels.data.size() != rows.bytes * rows.count) {
    detail::base::reject(std::to_string(pixels.data.size()) + " bytes for an image of " +
                             std::to_string(pixels.width) + " x " + std::to_string(pixels.height) +
                             " pixels with " + std::to_string(pixels.channels) + " channels",
                         std::to_string(rows.bytes * rows.count), "PNG");
  }
}

}  // namespace

std::string detail::values::encodePng(const detail::values::Pixels& pixels) {
  check(pixels);
  std::string png(detail::values::kPngSignature);
  detail::values::appendPngHeader(pixels.width, pixels.height, pixels.channels, &png);
  const std::size_t data = detail::values::beginPngChunk("IDAT", &png);
  detail::values::compressPngRows(wholeOf(pixels), &png);
  detail::values::finishPngChunk(data, &png);
  detail::values::appendPngChunk("IEND", {}, &png);
  return png;
}

}  // namespace steptape
