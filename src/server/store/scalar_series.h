// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "steptape/log/run_reader.h"

#include "server/store/growing_column.h"
#include "server/store/step_column.h"

namespace steptape::detail::server {

/// The scalars of a tag: 12 bytes a point if its steps are equally spaced. Values are binary32, as
/// on the wire to TensorBoard.
///
/// A point removes all earlier ones at its step or later, so that steps always ascend.
///
/// @threads Not thread-safe: one thread at a time, or several that only read.
class ScalarSeries {
 public:
  std::size_t size() const { return steps_.size(); }
  /// Returns the memory in use besides this object.
  std::size_t bytes() const { return steps_.bytes() + wallTimes_.bytes() + values_.bytes(); }
  std::int64_t step(std::size_t i) const { return steps_[i]; }
  const StepColumn& steps() const { return steps_; }
  double wallTime(std::size_t i) const { return wallTimes_[i]; }
  float value(std::size_t i) const { return values_[i]; }
  /// Return size() numbers, one after the other.
  const double* wallTimes() const { return wallTimes_.data(); }
  const float* values() const { return values_.data(); }
  std::size_t countBefore(std::int64_t step) const { return steps_.countBefore(step); }

  /// Returns the largest time. REQUIRES: there is a point.
  /// @cost Constant if times ascend, as those of one writer do.
  double lastWallTime() const {
    if (timesAscend_) {
      return wallTimes_.back();
    }
    return *std::max_element(wallTimes(), wallTimes() + size());
  }

  /// Appends points. Leaves out those whose time is NaN, which no page can show.
  /// @throws std::bad_alloc
  void append(const ScalarColumns& points) {
    wallTimes_.makeRoom(points.size());
    values_.makeRoom(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (std::isnan(points.wallTimes[i])) {
        continue;
      }
      const std::int64_t step = points.steps[i];
      if (steps_.size() > 0 && step <= steps_.back()) {
        truncate(steps_.countBefore(step));
      }
      timesAscend_ = timesAscend_ && (size() == 0 || wallTimes_.back() <= points.wallTimes[i]);
      steps_.append(step);
      wallTimes_.append(points.wallTimes[i]);
      values_.append(static_cast<float>(points.values[i]));
    }
  }

  /// Makes room for `count` points in all.
  void reserve(std::size_t count) {
    wallTimes_.reserve(count);
    values_.reserve(count);
  }

  void clear() {
    steps_.clear();
    wallTimes_.clear();
    values_.clear();
  }

 private:
  void truncate(std::size_t size) {
    steps_.truncate(size);
    wallTimes_.truncate(size);
    values_.truncate(size);
  }

  StepColumn steps_;
  GrowingColumn<double> wallTimes_;
  GrowingColumn<float> values_;
  bool timesAscend_ = true;
};

}  // namespace steptape::detail::server
