// SPDX-License-Identifier: Apache-2.0
#include "summary/png_filter.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace steptape::detail {
namespace {

enum Filter : std::uint8_t { kNone = 0, kSub = 1, kUp = 2, kPaeth = 4 };

std::uint8_t paeth(int left, int up, int upLeft) {
  const int toLeft = std::abs(up - upLeft);
  const int toUp = std::abs(left - upLeft);
  const int toUpLeft = std::abs(left + up - 2 * upLeft);
  const int nearest = toUp <= toUpLeft ? up : upLeft;
  return static_cast<std::uint8_t>(toLeft <= toUp && toLeft <= toUpLeft ? left : nearest);
}

/// Sum of the bytes' distances from 0, which deflate's Huffman codes follow.
std::uint32_t cost(const std::uint8_t* bytes, std::size_t count) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += bytes[i] < 128 ? bytes[i] : 256U - bytes[i];
  }
  return sum;
}

/// Writes the filter's number and the filtered row to `to`. `row` and `up` have the bytes of the
/// left neighbours before them.
template <typename Predict>
void apply(Filter filter, const std::uint8_t* row, std::size_t count, std::uint8_t* to,
           Predict predict) {
  *to++ = filter;
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = static_cast<std::uint8_t>(row[i] - predict(i));
  }
}

}  // namespace

PngRowFilter::PngRowFilter(std::size_t rowBytes, std::size_t pixelBytes)
    : rowBytes_(rowBytes),
      pixelBytes_(pixelBytes),
      previous_(pixelBytes + rowBytes, 0),
      current_(pixelBytes + rowBytes, 0),
      candidate_(1 + rowBytes),
      best_(1 + rowBytes) {}

const std::uint8_t* PngRowFilter::next(const std::uint8_t* pixels) {
  std::memcpy(current_.data() + pixelBytes_, pixels, rowBytes_);
  const std::uint8_t* const left = current_.data();
  const std::uint8_t* const row = left + pixelBytes_;
  const std::uint8_t* const upLeft = previous_.data();
  const std::uint8_t* const up = upLeft + pixelBytes_;

  std::uint32_t bestCost = UINT32_MAX;
  const auto tryFilter = [&](Filter filter, auto predict) {
    apply(filter, row, rowBytes_, candidate_.data(), predict);
    const std::uint32_t candidateCost = cost(candidate_.data() + 1, rowBytes_);
    if (candidateCost < bestCost) {
      bestCost = candidateCost;
      candidate_.swap(best_);
    }
  };
  tryFilter(kNone, [](std::size_t) { return 0; });
  tryFilter(kSub, [&](std::size_t i) { return left[i]; });
  tryFilter(kUp, [&](std::size_t i) { return up[i]; });
  tryFilter(kPaeth, [&](std::size_t i) { return paeth(left[i], up[i], upLeft[i]); });
  previous_.swap(current_);
  return best_.data();
}

}  // namespace steptape::detail
