// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace steptape::detail::train {

/// Returns how many batches hold `samples`; the last may be smaller.
inline std::int64_t batchCount(std::int64_t samples, std::int64_t batchSize) {
  return (samples + batchSize - 1) / batchSize;
}

}  // namespace steptape::detail::train
