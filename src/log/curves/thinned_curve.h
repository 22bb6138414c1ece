// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace steptape::detail::log {

/// A curve of any length in bounded memory: the means of stretches with equally many points.
class ThinnedCurve {
 public:
  struct Stretch {
    double end = 0;         ///< The time of its last point.
    std::int64_t step = 0;  ///< The step of its last point.
    double mean = 0;        ///< Of its finite values.
    std::size_t points = 0;
  };

  void add(double wallTime, std::int64_t step, double value) {
    if (stretches_.empty() || stretches_.back().points == perStretch_) {
      if (stretches_.size() == kMostStretches) {
        halve();
      }
      if (stretches_.empty() || stretches_.back().points == perStretch_) {
        stretches_.emplace_back();
      }
    }
    Stretch& last = stretches_.back();
    ++last.points;
    last.end = wallTime;
    last.step = step;
    last.mean += (value - last.mean) / static_cast<double>(last.points);
  }

  /// The last one may have fewer points than the others.
  const std::vector<Stretch>& stretches() const { return stretches_; }

  /// Returns about how many points are later than `wallTime`.
  std::size_t pointsAfter(double wallTime) const {
    std::size_t points = 0;
    for (std::size_t i = stretches_.size(); i > 0 && stretches_[i - 1].end > wallTime; --i) {
      points += stretches_[i - 1].points;
    }
    return points;
  }

 private:
  static constexpr std::size_t kMostStretches = 256;

  /// Joins each two stretches. REQUIRES: all are full
  void halve() {
    for (std::size_t i = 0; i < kMostStretches / 2; ++i) {
      const Stretch& first = stretches_[2 * i];
      Stretch joined = stretches_[2 * i + 1];
      joined.mean = (first.mean + joined.mean) / 2;
      joined.points += first.points;
      stretches_[i] = joined;
    }
    stretches_.resize(kMostStretches / 2);
    perStretch_ *= 2;
  }

  std::vector<Stretch> stretches_;
  std::size_t perStretch_ = 1;
};

}  // namespace steptape::detail::log
