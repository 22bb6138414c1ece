// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace steptape::tools {

/// Returns the columns of a printable character on a terminal: two for East Asian ideographs and
/// emoji, none for marks that combine with the previous character, else one.
///
/// Not wcwidth(), which supports only ASCII in the C locale.
/// @source Unicode 14.0: East_Asian_Width W and F in EastAsianWidth.txt; categories Mn, Me and Cf
///         in UnicodeData.txt, of the scripts up to Thai and of symbols
int columnsOf(char32_t code);

}  // namespace steptape::tools
