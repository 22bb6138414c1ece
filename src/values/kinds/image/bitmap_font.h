// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace steptape::detail::values {

/// A fixed-width font for short labels in images, drawn for this library: ASCII's printable
/// characters, and a hollow box for every other character.
///
/// @threads Thread-safe.
namespace bitmap_font {

/// Pixels from one character to the next; the last column is empty.
inline constexpr int kAdvance = 6;
/// Rows of a character: 7 above the baseline and 2 below it.
inline constexpr int kHeight = 9;

/// Returns the number of characters of a text: UTF-8 code points.
std::size_t length(std::string_view text);

/// Returns the number of the glyph for the character at `*position`, and advances past it.
int nextGlyph(std::string_view text, std::size_t* position);

/// Returns whether a glyph has ink at column `x`, 0 <= x < kAdvance, of row `y`, 0 <= y < kHeight.
bool hasInk(int glyph, int x, int y);

}  // namespace bitmap_font
}  // namespace steptape::detail::values
