// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace steptape::detail {

/// Pixels in memory: a picture, or a rectangle of a larger one.
struct PngRows {
  const std::uint8_t* first;  ///< The first row.
  std::size_t count;          ///< Rows.
  std::size_t bytes;          ///< Of a row.
  std::size_t stride;         ///< Bytes from a row to the next.
  std::size_t pixelBytes;     ///< Of a pixel: the distance to its left neighbor.
};

/// Filters rows of one PNG image, each with the filter that promises the fewest bytes.
///
/// The choice is the one that the PNG specification suggests, the least sum of absolute
/// differences, made anew every few rows: neighboring rows are much alike, and to choose costs
/// five times as much as to filter.
///
/// @threads Not thread-safe: one thread at a time.
/// @source  PNG (Third Edition), 9 "Filtering" and 12.7 "Filter selection".
class PngRowFilter {
 public:
  explicit PngRowFilter(const PngRows& rows);

  /// Filters row `y` with the filter chosen last.
  ///
  /// @param to Gets rows.bytes + 1 bytes: the filter's number and the row.
  void filter(std::size_t y, std::uint8_t* to) const;
  /// Chooses the filter that suits row `y` best, and filters it.
  void choose(std::size_t y, std::uint8_t* to);

 private:
  void apply(int filter, std::size_t y, std::uint8_t* to) const;

  PngRows rows_;
  int chosen_ = 0;
  std::vector<std::uint8_t> blank_;  // stands for the row above the first
};

}  // namespace steptape::detail
