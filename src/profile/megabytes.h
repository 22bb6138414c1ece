// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

namespace steptape::detail {

inline constexpr double kBytesPerMegabyte = 1e6;

/// Megabytes with two decimals, such as "12.04".
inline std::string megabytesText(std::int64_t bytes) {
  // Of integers, so that no locale changes the point.
  const std::int64_t hundredths =
      std::llround(static_cast<double>(bytes) / kBytesPerMegabyte * 100.0);
  const std::string fraction = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + (fraction.size() < 2 ? ".0" : ".") + fraction;
}

}  // namespace steptape::detail
