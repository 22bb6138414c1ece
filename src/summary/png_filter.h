// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace steptape::detail {

/// Filters the rows of one PNG image, each with the filter that promises the fewest bytes.
///
/// The choice is the one that the PNG specification suggests: the least sum of absolute
/// differences. It tries None, Sub, Up and Paeth; Average wins rarely and costs as much as each.
///
/// @threads Not thread-safe: one thread at a time.
/// @source  PNG (Third Edition), 9 "Filtering" and 12.7 "Filter selection".
class PngRowFilter {
 public:
  /// @param rowBytes   Bytes of a row.
  /// @param pixelBytes Bytes of a pixel: the distance to the left neighbour.
  PngRowFilter(std::size_t rowBytes, std::size_t pixelBytes);

  /// Filters the image's next row.
  ///
  /// @return rowBytes + 1 bytes: the filter's number and the row. Valid until the next call.
  const std::uint8_t* next(const std::uint8_t* row);

 private:
  std::size_t rowBytes_;
  std::size_t pixelBytes_;
  // Both begin with a pixel of zeros, the left neighbours of the first pixel.
  std::vector<std::uint8_t> previous_;
  std::vector<std::uint8_t> current_;
  std::vector<std::uint8_t> candidate_;
  std::vector<std::uint8_t> best_;
};

}  // namespace steptape::detail
