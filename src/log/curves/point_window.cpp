// SPDX-License-Identifier: Apache-2.0
#include "log/curves/point_window.h"

#include <algorithm>
#include <cmath>

namespace steptape::detail::log {
namespace {

/// REQUIRES: not empty
double medianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void PointWindow::add(double value) {
  if (values_.size() < size_) {
    values_.push_back(value);
    next_ = values_.size() % size_;
    setRange();
    return;
  }
  const double oldest = values_[next_];
  values_[next_] = value;
  next_ = (next_ + 1) % size_;
  if (oldest == least_ || oldest == largest_) {
    setRange();
  } else {
    least_ = std::min(least_, value);
    largest_ = std::max(largest_, value);
  }
}

void PointWindow::clear() {
  values_.clear();
  next_ = 0;
}

void PointWindow::setRange() {
  const auto [least, largest] = std::minmax_element(values_.begin(), values_.end());
  least_ = *least;
  largest_ = *largest;
}

double PointWindow::median() const {
  return medianOf(values_);
}

std::size_t PointWindow::turns() const {
  std::size_t turns = 0;
  double before = 0;
  for (std::size_t age = values_.size() - 1; age > 0; --age) {
    const double change = valueBefore(age - 1) - valueBefore(age);
    turns += change * before < 0 ? 1 : 0;
    before = change != 0 ? change : before;
  }
  return turns;
}

double PointWindow::medianChange() const {
  std::vector<double> changes;
  for (std::size_t age = values_.size() - 1; age > 0; --age) {
    changes.push_back(std::abs(valueBefore(age - 1) - valueBefore(age)));
  }
  return medianOf(std::move(changes));
}

}  // namespace steptape::detail::log
