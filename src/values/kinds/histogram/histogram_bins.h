// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace steptape::detail::values {

/// TensorBoard's default limits above 0: 1e-12 · 1.1^k below 1e20, ascending. Built by repeated
/// multiplication, as in every other writer: std::pow rounds differently and would move values.
const std::vector<double>& positiveLimits();

/// Number of limits above 0, and also of limits below 0.
inline constexpr std::size_t kPositiveLimits = 774;

// A slot counts values of one bucket and one sign. Slots of each sign ascend by magnitude:
//   positive: [0, limit 0), [limit 0, limit 1), ..., above the last limit, infinity, NaN
//   negative: -0, (-0, -limit 0], ..., below the last limit, -infinity, NaN
inline constexpr std::size_t kPosInfSlot = kPositiveLimits + 1;
inline constexpr std::size_t kPosNanSlot = kPosInfSlot + 1;
inline constexpr std::size_t kNegZeroSlot = kPosNanSlot + 1;
inline constexpr std::size_t kNegInfSlot = kNegZeroSlot + kPositiveLimits + 2;
inline constexpr std::size_t kNegNanSlot = kNegInfSlot + 1;
inline constexpr std::size_t kSlots = kNegNanSlot + 1;

/// Number of buckets between the limits, including 0, plus one beyond the outermost limits on
/// either side.
inline constexpr std::size_t kBuckets = 2 * kPositiveLimits + 2;

/// Four counts of each slot: with one, a sequence of equal values would wait for its own stores.
using SlotCounts = std::array<std::array<std::uint64_t, kSlots>, 4>;

/// Returns the sum of the four counts of `slot`.
std::uint64_t slotTotal(const SlotCounts& counts, std::size_t slot);

/// Returns the count of the `bucket`-th bucket in ascending order.
std::uint64_t bucketTotal(const SlotCounts& counts, std::size_t bucket);

/// Returns the right edge of the `bucket`-th bucket in ascending order.
double bucketLimit(std::size_t bucket);

/// Finds a value's slot without a search.
///
/// The upper 16 bits of a float (sign, exponent, 7 bits of mantissa) or of a double (4 bits of
/// mantissa) define a range whose width is at most 1/128 or 1/16 of its values. Limits are a tenth
/// apart, so at most one slot starts within a range. The upper bits of a table entry are the slot
/// of the range's smallest magnitude. The lower bits are the distance from the next slot's first
/// value to the end of the range. Adding a value's lower bits therefore carries into the slot
/// exactly if the value belongs to the next slot: one integer addition replaces a binary search.
///
/// @threads Thread-compatible: const methods may run concurrently.
template <typename Float>
class SlotTable {
 public:
  using Bits = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;

  /// Returns the table for this type, which is built once.
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

}  // namespace steptape::detail::values
