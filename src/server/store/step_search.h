// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace steptape::detail::server {

/// Returns the first index from `begin` on whose point is not before what is looked for; `end` if
/// there is none. Steps ascend.
/// @param isBefore (index) → whether the point at this index is before it
template <typename IsBefore>
std::size_t firstNotBefore(std::size_t begin, std::size_t end, const IsBefore& isBefore) {
  while (begin < end) {
    const std::size_t middle = begin + (end - begin) / 2;
    if (isBefore(middle)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

}  // namespace steptape::detail::server
