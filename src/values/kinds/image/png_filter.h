// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace steptape::detail::values {

/// Pixels in memory: an image, or a rectangle of a larger one.
struct PngRows {
  const std::uint8_t* first;  ///< The first row.
  std::size_t count;          ///< Number of rows.
  std::size_t bytes;          ///< Bytes per row.
  std::size_t stride;         ///< Bytes from a row to the next.
  std::size_t pixelBytes;     ///< Bytes per pixel: the distance to the left neighbor.
};

/// Filters rows of one PNG image, each with the filter that promises the fewest bytes.
///
/// Uses the heuristic of the PNG specification, the minimum sum of absolute differences, and
/// chooses again every few rows: neighboring rows are similar, and choosing costs five times as
/// much as filtering.
///
/// @threads Not thread-safe: one thread at a time.
/// @source  PNG (Third Edition), 9 "Filtering" and 12.7 "Filter selection".
class PngRowFilter {
 public:
  explicit PngRowFilter(const PngRows& rows);

  /// Filters row `y` with the filter that was chosen last.
  ///
  /// @param to Receives rows.bytes + 1 bytes: the filter's number and the row.
  void filter(std::size_t y, std::uint8_t* to) const;
  /// Chooses the best filter for row `y`, and filters it.
  void choose(std::size_t y, std::uint8_t* to);

 private:
  void apply(int filter, std::size_t y, std::uint8_t* to) const;

  PngRows rows_;
  int chosen_ = 0;
  std::vector<std::uint8_t> blank_;  // stands for the row above the first
};

}  // namespace steptape::detail::values
