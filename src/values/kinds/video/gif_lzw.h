// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace steptape::detail::values {

/// Compresses the color numbers of a GIF image: writes the code size, the data in blocks, and the
/// empty block that ends them.
///
/// @param indices At least one; each below 2^`bits`.
/// @param bits    2 to 8.
/// @source CompuServe, "Graphics Interchange Format", version 89a, appendix F.
void appendGifLzw(const std::vector<std::uint8_t>& indices, int bits, std::string* gif);

}  // namespace steptape::detail::values
