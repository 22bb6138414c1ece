// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/image/png_filter.h"

#include <cstdlib>
#include <cstring>

namespace steptape::detail::values {
namespace {

enum Filter { kNone = 0, kSub = 1, kUp = 2, kAverage = 3, kPaeth = 4 };
constexpr int kFilters = 5;

/// In 16 bits and without branches, so that compilers vectorize it to 8 pixels at a time.
std::int16_t paeth(std::int16_t left, std::int16_t up, std::int16_t upLeft) {
  const auto distance = [](int difference) {
    return static_cast<std::int16_t>(difference < 0 ? -difference : difference);
  };
  const std::int16_t toLeft = distance(up - upLeft);
  const std::int16_t toUp = distance(left - upLeft);
  const std::int16_t toUpLeft = distance(left + up - 2 * upLeft);
  const std::int16_t upOrUpLeft = toUp <= toUpLeft ? up : upLeft;
  const std::int16_t nearest = toLeft <= toUpLeft ? left : upLeft;
  return toLeft <= toUp ? nearest : upOrUpLeft;
}

/// Sums the absolute values of the bytes as signed numbers, which estimates their size after
/// Huffman coding.
std::uint64_t cost(const std::uint8_t* bytes, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += static_cast<std::uint64_t>(std::abs(static_cast<std::int8_t>(bytes[i])));
  }
  return sum;
}

/// Writes `row` minus `predict(left, up, upLeft)`.
///
/// @param up The row above.
template <typename Predict>
void subtract(const PngRows& rows, const std::uint8_t* row, const std::uint8_t* up,
              std::uint8_t* to, Predict predict) {
  // Local copies: otherwise the compiler must assume that writes through `to` change `rows`, and
  // does not vectorize.
  const std::size_t pixel = rows.pixelBytes;
  const std::size_t count = rows.bytes;
  for (std::size_t i = 0; i < pixel; ++i) {
    to[i] = static_cast<std::uint8_t>(row[i] - predict(0, up[i], 0));
  }
  for (std::size_t i = pixel; i < count; ++i) {
    to[i] = static_cast<std::uint8_t>(row[i] - predict(row[i - pixel], up[i], up[i - pixel]));
  }
}

}  // namespace

PngRowFilter::PngRowFilter(const PngRows& rows) : rows_(rows), blank_(rows.bytes, 0) {}

void PngRowFilter::filter(std::size_t y, std::uint8_t* to) const {
  apply(chosen_, y, to);
}

void PngRowFilter::choose(std::size_t y, std::uint8_t* to) {
  std::uint64_t least = UINT64_MAX;
  for (int filter = 0; filter < kFilters; ++filter) {
    apply(filter, y, to);
    const std::uint64_t costs = cost(to + 1, rows_.bytes);
    if (costs < least) {
      least = costs;
      chosen_ = filter;
    }
  }
  filter(y, to);
}

void PngRowFilter::apply(int filter, std::size_t y, std::uint8_t* to) const {
  const std::uint8_t* const row = rows_.first + y * rows_.stride;
  const std::uint8_t* const up = y == 0 ? blank_.data() : row - rows_.stride;
  *to++ = static_cast<std::uint8_t>(filter);
  switch (filter) {
    case kSub:
      return subtract(rows_, row, up, to, [](int left, int, int) { return left; });
    case kUp:
      return subtract(rows_, row, up, to, [](int, int above, int) { return above; });
    case kAverage:
      return subtract(rows_, row, up, to,
                      [](int left, int above, int) { return (left + above) / 2; });
    case kPaeth:
      return subtract(rows_, row, up, to,
                      [](std::int16_t left, std::int16_t above, std::int16_t aboveLeft) {
                        return paeth(left, above, aboveLeft);
                      });
    default:
      std::memcpy(to, row, rows_.bytes);
  }
}

}  // namespace steptape::detail::values
