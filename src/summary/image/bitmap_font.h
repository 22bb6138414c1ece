// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace steptape::detail {

/// A font of fixed width for short labels in pictures, drawn for this library: ASCII's printable
/// characters, and a hollow box for every other.
///
/// @threads Thread-safe.
namespace bitmap_font {

/// Pixels from a character to the next, of which the last column is empty.
inline constexpr int kAdvance = 6;
/// Rows of a character: 7 above the baseline and 2 below.
inline constexpr int kHeight = 9;

/// How many characters a text shows: UTF-8's code points.
std::size_t length(std::string_view text);

/// The number of the glyph that shows the character at `*position`, and moves past it.
int nextGlyph(std::string_view text, std::size_t* position);

/// Whether a glyph has ink at column `x`, 0 <= x < kAdvance, of row `y`, 0 <= y < kHeight.
bool hasInk(int glyph, int x, int y);

}  // namespace bitmap_font
}  // namespace steptape::detail
