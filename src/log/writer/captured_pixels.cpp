// SPDX-License-Identifier: Apache-2.0
#include "log/writer/captured_pixels.h"

#include <cmath>

#include "base/got_expected.h"
#include "base/shortest_double.h"

namespace steptape::detail::log {
namespace {

std::string numberText(float number) {
  std::string text;
  if (std::isfinite(number)) {
    base::appendShortestFloat(&text, number);
  } else {
    text = number < 0 ? "-inf" : "inf";
  }
  return text;
}

std::string rangeText(const values::UnshownElements& unshown) {
  if (unshown.lowest == 0) {
    return "up to " + numberText(unshown.highest);
  }
  return unshown.highest == 0
             ? "down to " + numberText(unshown.lowest)
             : "from " + numberText(unshown.lowest) + " to " + numberText(unshown.highest);
}

}  // namespace

void reportUnshown(const std::string& what, const values::UnshownElements& unshown,
                   Reporter* reporter) {
  if (unshown.nans > 0) {
    reporter->reportOnce("NaN of " + what, what + ": got " + std::to_string(unshown.nans) +
                                               " NaN elements; they are shown as 0");
  }
  if (unshown.lowest < 0 || unshown.highest > 0) {
    reporter->reportOnce(
        "range of " + what,
        what + ": " + base::gotExpected("floating-point colors " + rangeText(unshown), "0 to 1") +
            ": they are clipped, and further ones are not reported. " +
            (unshown.lowest < 0 ? "Scale them, such as (x + 1) / 2 for -1 to 1"
                                : "For 0 to 255, pass uint8 or divide by 255"));
  }
}

}  // namespace steptape::detail::log
