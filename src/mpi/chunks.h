// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

namespace steptape::mpi::detail {

/// Calls `call(offset, count)` for consecutive pieces of at most `maxCount` of `total` elements.
template <typename Call>
void forEachChunk(std::size_t total, std::size_t maxCount, const Call& call) {
  for (std::size_t offset = 0; offset < total; offset += maxCount) {
    call(offset, static_cast<int>(std::min(maxCount, total - offset)));
  }
}

}  // namespace steptape::mpi::detail
