// SPDX-License-Identifier: Apache-2.0
#include "data/byte_scaling.h"

#include "base/vector_clones.h"

namespace steptape::detail {

STEPTAPE_VECTOR_CLONES void scaleBytes(const std::uint8_t* bytes, std::size_t size, float scale,
                                       float offset, float* __restrict result) {
  for (std::size_t i = 0; i < size; ++i) {
    result[i] = scale * static_cast<float>(bytes[i]) + offset;
  }
}

}  // namespace steptape::detail
