// SPDX-License-Identifier: Apache-2.0
#include "steptape/distributed/rank_policy.h"

#include <cstddef>

namespace steptape {

std::string rankRunName(int rank) {
  constexpr std::size_t kDigits = 5;
  const std::string digits = std::to_string(rank);
  const std::size_t zeros = digits.size() < kDigits ? kDigits - digits.size() : 0;
  return "rank_" + std::string(zeros, '0') + digits;
}

}  // namespace steptape
