// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "steptape/log/curve_check.h"

#include "log/curves/curve_names.h"
#include "log/curves/long_intervals.h"
#include "log/curves/point_window.h"
#include "log/curves/thinned_curve.h"

namespace steptape::detail::log {

/// Returns a number as messages show it: four digits.
std::string curveNumber(double value);

/// One tag of a CurveCheck: the rules that need no other tag.
///
/// @threads Not thread-safe: one thread at a time.
class TagCurve {
 public:
  struct Point {
    std::int64_t step;
    double value;
    double wallTime;
  };

  /// @param options Outlives this object.
  TagCurve(std::string tag, const CurveCheckOptions& options);

  /// What is a finding unless losses of the run may rise, see isOfContest().
  struct LostGain {
    Point point;
    std::string message;
  };

  /// @param findings Gets what the point shows.
  void add(const Point& point, std::vector<CurveFinding>* findings);
  /// @param findings Gets what the last point would show if no other one followed.
  void judgeEnd(std::vector<CurveFinding>* findings);
  /// Not null once: after the point that shows it.
  std::unique_ptr<LostGain>& lostGain() { return lostGain_; }

  const std::string& tag() const { return tag_; }
  CurveKind kind() const { return kind_; }
  const ThinnedCurve& thinned() const { return thinned_; }
  std::size_t points() const { return points_; }
  double firstTime() const { return firstTime_; }
  const Point& last() const { return last_; }
  const LongIntervals& intervals() const { return intervals_; }

  /// Makes a finding, unless the rule has one of the tag, or is left out.
  void report(CurveRule rule, const Point& point, std::string message,
              std::vector<CurveFinding>* findings);

 private:
  using Findings = std::vector<CurveFinding>;

  /// A value that may be a spike: if the curve comes back soon.
  struct Outlier {
    Point point;
    double least;
    double largest;
    bool isOfNoise;  // a smooth curve, such as a schedule, may jump at its last point as well
    std::size_t pointsSince = 0;
  };

  bool wants(CurveRule rule) const;
  bool isRestart(std::int64_t step) const;
  void beginAnew(std::int64_t step);
  void judgeFinite(const Point& point, Findings* findings);
  void judgeSpike(const Point& point, Findings* findings);
  void judgeReturn(const Point& point, Findings* findings);
  void reportSpike(const Outlier& outlier, Findings* findings);
  void judgeChange(const Point& point, Findings* findings);
  void judgeDivergence(const Point& point, Findings* findings);
  void judgeGain(const Point& point, double median, double noise);

  const std::string tag_;
  const CurveKind kind_;
  const bool isWholeLoss_;
  const CurveCheckOptions& options_;
  std::uint32_t reported_ = 0;  // a bit for each rule
  std::size_t points_ = 0;
  Point last_{0, 0, 0};
  double firstTime_ = 0;
  LongIntervals intervals_;
  ThinnedCurve thinned_;

  // Since the last restart.
  std::int64_t beginStep_ = 0;
  std::int64_t largestStep_ = 0;
  std::size_t pointsSinceBegin_ = 0;

  PointWindow window_;
  std::optional<Outlier> outlier_;

  std::size_t equalPoints_ = 0;   // with the last value, in a row
  std::size_t mostEqual_ = 0;     // in a row that ended
  std::size_t fewestOfNoChange_;  // equal points that are no change
  std::size_t rises_ = 0;
  std::size_t falls_ = 0;

  std::size_t sinceMedian_ = 0;  // points
  std::optional<double> startMedian_;
  std::int64_t startStep_ = 0;
  std::size_t startPoints_ = 0;  // points_ then
  double bestMedian_ = 0;
  std::int64_t bestStep_ = 0;
  std::size_t bestPoints_ = 0;

  // A stretch in which the loss has lost most of its gain, and does not fall.
  std::size_t lostPoints_ = 0;  // points_ at its begin; 0: none
  std::int64_t lostStep_ = 0;
  double lostMedian_ = 0;  // its largest one
  bool hasLost_ = false;
  std::unique_ptr<LostGain> lostGain_;
};

}  // namespace steptape::detail::log
