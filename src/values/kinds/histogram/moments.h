// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>

namespace steptape::detail::values {

/// Minimum, maximum, sum and sum of squares of the finite values that were added.
///
/// @threads Not thread-safe: one thread at a time.
class Moments {
 public:
  /// Adds a block of floats or doubles. Fastest for a few thousand values, which stay in the
  /// first-level cache between the two loops.
  template <typename Float>
  void add(const Float* values, std::size_t count);

  /// REQUIRES: a finite value was added.
  double min() const { return min_; }
  double max() const { return max_; }
  double sum() const { return sum_; }
  double sumSquares() const { return sumSquares_; }

 private:
  template <typename Float>
  void addFinite(const Float* values, std::size_t count);

  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
  double sum_ = 0;
  double sumSquares_ = 0;
};

extern template void Moments::add(const float* values, std::size_t count);
extern template void Moments::add(const double* values, std::size_t count);

}  // namespace steptape::detail::values
