// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

namespace steptape {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace steptape
