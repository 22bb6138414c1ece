// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace steptape::tools {

/// A drawing on a terminal: each character cell has the 2 x 4 dots of a Unicode braille pattern.
///
/// Dots are counted from the top left; those outside are clipped.
class BrailleCanvas {
 public:
  static constexpr int kDotsAcross = 2;  ///< In one cell.
  static constexpr int kDotsDown = 4;

  /// REQUIRES: both at least 1.
  BrailleCanvas(int columns, int rows);

  int columns() const { return columns_; }
  int rows() const { return rows_; }
  int dotsAcross() const { return columns_ * kDotsAcross; }
  int dotsDown() const { return rows_ * kDotsDown; }

  void dot(int x, int y);
  /// Draws a line, both ends included. REQUIRES: coordinates whose absolute value is below a
  /// million.
  /// @source Bresenham, "Algorithm for computer control of a digital plotter", 1965.
  void line(int fromX, int fromY, int toX, int toY);

  /// Returns the dots of a cell, one bit each; 0: empty.
  std::uint8_t dotsAt(int column, int row) const { return cells_[index(column, row)]; }

  /// Returns the character, in UTF-8, that shows `dots`.
  /// @source The Unicode Standard, "Braille Patterns", U+2800 to U+28FF.
  static std::string pattern(std::uint8_t dots);

 private:
  std::size_t index(int column, int row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
           static_cast<std::size_t>(column);
  }

  int columns_;
  int rows_;
  std::vector<std::uint8_t> cells_;
};

}  // namespace steptape::tools
