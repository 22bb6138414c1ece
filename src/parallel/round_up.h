// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace steptape::detail {

/// A page of memory: what ranks that write side by side are kept apart by.
constexpr std::size_t kPageBytes = 4096;

/// The least multiple of `unit` that is not below `bytes`.
constexpr std::size_t roundUp(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace steptape::detail
