// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptape {

constexpr std::int64_t kMs = 1000000;  // in nanoseconds

}  // namespace steptape
