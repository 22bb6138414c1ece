// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace steptape::detail {

/// TensorBoard's default limits above 0: 1e-12 · 1.1^k below 1e20, ascending. Built by repeated
/// multiplication, as every peer does: std::pow rounds differently and would move values.
const std::vector<double>& positiveLimits();

/// How many limits there are above 0, and as many below.
inline constexpr std::size_t kPositiveLimits = 774;

// A slot is what one value is counted in. Slots of either sign are in ascending order of magnitude:
//   positive: [0, limit 0), [limit 0, limit 1), ..., above the last limit, infinity, NaN
//   negative: -0, (-0, -limit 0], ..., below the last limit, -infinity, NaN
inline constexpr std::size_t kPosInfSlot = kPositiveLimits + 1;
inline constexpr std::size_t kPosNanSlot = kPosInfSlot + 1;
inline constexpr std::size_t kNegZeroSlot = kPosNanSlot + 1;
inline constexpr std::size_t kNegInfSlot = kNegZeroSlot + kPositiveLimits + 2;
inline constexpr std::size_t kNegNanSlot = kNegInfSlot + 1;
inline constexpr std::size_t kSlots = kNegNanSlot + 1;

/// Buckets between the limits, 0 among them, and one beyond the outermost on either side.
inline constexpr std::size_t kBuckets = 2 * kPositiveLimits + 2;

/// Counts of each slot, four times: a run of equal values would otherwise wait for its own stores.
using SlotCounts = std::array<std::array<std::uint64_t, kSlots>, 4>;

/// The sum of the four counts of `slot`.
std::uint64_t slotTotal(const SlotCounts& counts, std::size_t slot);

/// Count of the bucket that is `bucket`-th in ascending order.
std::uint64_t bucketTotal(const SlotCounts& counts, std::size_t bucket);

/// Right edge of the bucket that is `bucket`-th in ascending order.
double bucketLimit(std::size_t bucket);

/// Finds a value's slot without a search.
///
/// The upper 16 bits of a float (sign, exponent, 7 bits of mantissa) or of a double (4 bits) name a
/// range so narrow, at most 1/128 or 1/16 of its values wide, that no more than one slot begins in
/// it: limits are a tenth apart. The table's entry holds the slot of the range's smallest magnitude
/// in its own upper bits, and below them what is missing from the next slot's first value to the
/// end of the range. Adding a value's lower bits thus carries into the slot exactly when the value
/// belongs to the next one: one addition of integers instead of a binary search.
///
/// @threads Thread-compatible: const methods may run concurrently.
template <typename Float>
class SlotTable {
 public:
  using Bits = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;

  /// The table of this type, built once.
  static const SlotTable& instance();

  std::size_t slot(Float value) const;

  /// Adds `count` values to `*counts`.
  void count(const Float* values, std::size_t count, SlotCounts* counts) const;

 private:
  static constexpr int kLowBits = 8 * sizeof(Float) - 16;
  static constexpr Bits kLowMask = (Bits{1} << kLowBits) - 1;

  SlotTable();
  void fillHalf(std::size_t firstKey, std::size_t firstSlot, const std::vector<Bits>& slotBegins);

  std::array<Bits, 1 << 16> entries_;
};

extern template class SlotTable<float>;
extern template class SlotTable<double>;

}  // namespace steptape::detail
