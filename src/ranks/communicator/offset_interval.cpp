// SPDX-License-Identifier: Apache-2.0
#include "ranks/communicator/offset_interval.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace steptape::detail::ranks {

OffsetInterval offsetInterval(const std::vector<BarrierTimes>& mine,
                              const std::vector<BarrierTimes>& others) {
  const BarrierTimes myLast = mine.back();
  const std::int64_t othersEnd = others.back().left;
  OffsetInterval interval{std::numeric_limits<std::int64_t>::min(),
                          std::numeric_limits<std::int64_t>::max(), true};
  // Goes backwards because the result is for the last barrier. The last barrier alone always gives
  // a nonempty interval: clocks never go back, and least <= greatest only states twice that entered
  // <= left.
  for (std::size_t round = mine.size(); round-- > 0;) {
    const BarrierTimes& me = mine[round];
    const BarrierTimes& other = others[round];
    // Time since this rank arrived, and maximum time since the other rank arrived, which left its
    // last barrier not before this rank had arrived.
    const std::int64_t myAge = myLast.left - me.entered;
    const std::int64_t otherAge = othersEnd - other.entered + (myLast.left - myLast.entered);
    const std::int64_t least =
        std::max(interval.least, other.entered - me.left - otherAge / kDriftDivisor);
    const std::int64_t greatest =
        std::min(interval.greatest, other.left - me.entered + myAge / kDriftDivisor);
    if (least > greatest) {
      interval.isSteady = false;
      break;
    }
    interval.least = least;
    interval.greatest = greatest;
  }
  return interval;
}

}  // namespace steptape::detail::ranks
