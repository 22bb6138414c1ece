// SPDX-License-Identifier: Apache-2.0
#include "values/kinds/histogram/histogram_bins.h"

#include <cmath>
#include <limits>

#include "base/element.h"

namespace steptape::detail::values {
namespace {

/// Returns the least Float above `limit`, or `limit` itself if `includesLimit`.
template <typename Float>
Float leastFrom(double limit, bool includesLimit) {
  const Float rounded = static_cast<Float>(limit);
  const double back = rounded;
  const bool isFrom = includesLimit ? back >= limit : back > limit;
  return isFrom ? rounded : std::nextafter(rounded, std::numeric_limits<Float>::infinity());
}

/// Returns where the slots after the first start, as bits of magnitudes, for one sign.
template <typename Bits, typename Float>
std::vector<Bits> slotBegins(bool isNegative) {
  std::vector<Bits> begins;
  if (isNegative) {
    begins.push_back(1);  // only -0 is before it
  }
  const std::vector<double>& limits = positiveLimits();
  for (std::size_t i = 0; i < limits.size(); ++i) {
    // A limit belongs to the bucket on its right; for negative limits, these are the smaller
    // magnitudes. The largest limit belongs to the bucket on its left, as in numpy.histogram.
    const bool includesLimit = !isNegative && i + 1 < limits.size();
    begins.push_back(base::bitCast<Bits>(leastFrom<Float>(limits[i], includesLimit)));
  }
  const Bits infinity = base::bitCast<Bits>(std::numeric_limits<Float>::infinity());
  begins.push_back(infinity);
  begins.push_back(infinity + 1);  // NaN
  return begins;
}

}  // namespace

const std::vector<double>& positiveLimits() {
  static const std::vector<double> kLimits = [] {
    std::vector<double> result;
    for (double limit = 1e-12; limit < 1e20; limit *= 1.1) {
      result.push_back(limit);
    }
    return result;
  }();
  return kLimits;
}

std::uint64_t slotTotal(const SlotCounts& counts, std::size_t slot) {
  return counts[0][slot] + counts[1][slot] + counts[2][slot] + counts[3][slot];
}

std::uint64_t bucketTotal(const SlotCounts& counts, std::size_t bucket) {
  if (bucket <= kPositiveLimits) {
    return slotTotal(counts, kNegZeroSlot + 1 + kPositiveLimits - bucket);
  }
  const std::size_t slot = bucket - kPositiveLimits - 1;
  return slotTotal(counts, slot) + (slot == 0 ? slotTotal(counts, kNegZeroSlot) : 0);
}

double bucketLimit(std::size_t bucket) {
  if (bucket < kPositiveLimits) {
    return -positiveLimits()[kPositiveLimits - 1 - bucket];
  }
  if (bucket == kPositiveLimits) {
    return 0;
  }
  const std::size_t i = bucket - kPositiveLimits - 1;
  return i < kPositiveLimits ? positiveLimits()[i] : std::numeric_limits<double>::max();
}

template <typename Float>
SlotTable<Float>::SlotTable() {
  constexpr std::size_t kHalf = (1 << 16) / 2;
  fillHalf(0, 0, slotBegins<Bits, Float>(false));
  fillHalf(kHalf, kNegZeroSlot, slotBegins<Bits, Float>(true));
}

template <typename Float>
void SlotTable<Float>::fillHalf(std::size_t firstKey, std::size_t firstSlot,
                                const std::vector<Bits>& slotBegins) {
  std::size_t passed = 0;
  for (std::size_t i = 0; i < entries_.size() / 2; ++i) {
    const Bits low = static_cast<Bits>(i) << kLowBits;
    while (passed < slotBegins.size() && slotBegins[passed] <= low) {
      ++passed;
    }
    Bits entry = static_cast<Bits>(firstSlot + passed) << kLowBits;
    if (passed < slotBegins.size() && slotBegins[passed] - low <= kLowMask) {
      entry += kLowMask + 1 - (slotBegins[passed] - low);
    }
    entries_[firstKey + i] = entry;
  }
}

template <typename Float>
const SlotTable<Float>& SlotTable<Float>::instance() {
  static const SlotTable kTable;
  return kTable;
}

template <typename Float>
std::size_t SlotTable<Float>::slot(Float value) const {
  const Bits bits = base::bitCast<Bits>(value);
  return static_cast<std::size_t>((entries_[bits >> kLowBits] + (bits & kLowMask)) >> kLowBits);
}

template <typename Float>
void SlotTable<Float>::count(const Float* values, std::size_t count, SlotCounts* counts) const {
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    ++(*counts)[0][slot(values[i])];
    ++(*counts)[1][slot(values[i + 1])];
    ++(*counts)[2][slot(values[i + 2])];
    ++(*counts)[3][slot(values[i + 3])];
  }
  for (; i < count; ++i) {
    ++(*counts)[0][slot(values[i])];
  }
}

template class SlotTable<float>;
template class SlotTable<double>;

}  // namespace steptape::detail::values
