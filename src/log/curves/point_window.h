// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace steptape::detail::log {

/// The last finite values of a curve.
class PointWindow {
 public:
  explicit PointWindow(std::size_t size) : size_(size) {}

  void add(double value);
  void clear();

  bool isFull() const { return values_.size() == size_; }

  // REQUIRES: isFull()

  double least() const { return least_; }
  double largest() const { return largest_; }
  double median() const;
  /// Returns how often the curve turns: rises after it fell, or the other way round.
  std::size_t turns() const;
  /// Returns how much a value differs from the one before, in the middle: the noise of a curve.
  double medianChange() const;

 private:
  void setRange();
  /// Returns the value that came `age` values before the last one.
  double valueBefore(std::size_t age) const {
    return values_[(next_ + values_.size() - 1 - age) % values_.size()];
  }

  std::size_t size_;
  std::vector<double> values_;  // a ring
  std::size_t next_ = 0;        // the oldest one once the ring is full
  double least_ = 0;
  double largest_ = 0;
};

}  // namespace steptape::detail::log
