// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include "steptape/metrics/distributed_writer.h"

namespace steptape {

std::string rankRunName(int rank) {
  constexpr std::size_t kDigits = 5;
  const std::string digits = std::to_string(rank);
  const std::size_t zeros = digits.size() < kDigits ? kDigits - digits.size() : 0;
  return "rank_" + std::string(zeros, '0') + digits;
}

ReducedOptions ReducedOptions::all() {
  ReducedOptions options;
  options.min = options.max = options.std = options.argmaxRank = options.sum = true;
  options.percentiles = {50, 90, 99};
  options.perRankHistogram = true;
  options.band = true;
  return options;
}

}  // namespace steptape
