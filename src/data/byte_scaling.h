// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace steptape::detail {

/// Writes scale * byte + offset for each byte. Costs about 0.1 ns an element where the bytes are in
/// the cache.
void scaleBytes(const std::uint8_t* bytes, std::size_t size, float scale, float offset,
                float* result);

}  // namespace steptape::detail
