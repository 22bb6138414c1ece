// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptape::detail {

inline double milliseconds(std::int64_t nanos) {
  return static_cast<double>(nanos) / 1e6;
}

}  // namespace steptape::detail
