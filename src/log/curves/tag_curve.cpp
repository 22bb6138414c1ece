// SPDX-License-Identifier: Apache-2.0
#include "log/curves/tag_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/got_expected.h"

namespace steptape::detail::log {
namespace {

std::string at(std::int64_t step) {
  return " at step " + std::to_string(step);
}

/// The values between which a curve may go on.
struct Limits {
  double least;
  double largest;

  bool contain(double value) const { return least <= value && value <= largest; }
};

/// Returns the range, widened on each side by `ranges` times its width.
Limits widened(double least, double largest, double ranges) {
  const double margin = ranges * (largest - least);
  return {least - margin, largest + margin};
}

/// Returns whether a value is in the widened range of the values before it. Those that are positive
/// and differ by more than ten times are compared by their logarithms too: such curves have rare
/// large values.
bool isExpected(double value, double least, double largest, double ranges) {
  constexpr double kWide = 10;
  const bool isWide = least > 0 && largest > kWide * least && value > 0;
  return widened(least, largest, ranges).contain(value) ||
         (isWide && widened(std::log(least), std::log(largest), ranges).contain(std::log(value)));
}

constexpr double kNoises = 6;  // that are more than noise

/// A validation may be logged at each step with its last value.
constexpr std::size_t kRepeated = 10;

}  // namespace

std::string curveNumber(double value) {
  std::array<char, 32> text;
  const int size = std::snprintf(text.data(), text.size(), "%.4g", value);
  return {text.data(), static_cast<std::size_t>(size)};
}

TagCurve::TagCurve(std::string tag, const CurveCheckOptions& options)
    : tag_(std::move(tag)),
      kind_(curveKindOf(tag_)),
      isWholeLoss_(log::isWholeLoss(tag_)),
      options_(options),
      window_(static_cast<std::size_t>(options.window)),
      fewestOfNoChange_(static_cast<std::size_t>(options.constantPoints) *
                        (partedNameOf(tag_).part == CurvePart::kValidation ? kRepeated : 1)) {}

bool TagCurve::wants(CurveRule rule) const {
  return (reported_ & 1U << static_cast<unsigned>(rule)) == 0;
}

void TagCurve::report(CurveRule rule, const Point& point, std::string message, Findings* findings) {
  const auto& leftOut = options_.leftOut;
  if (wants(rule) && std::find(leftOut.begin(), leftOut.end(), rule) == leftOut.end()) {
    findings->push_back({rule, tag_, point.step, point.value, point.wallTime, std::move(message)});
  }
  reported_ |= 1U << static_cast<unsigned>(rule);
}

void TagCurve::add(const Point& point, Findings* findings) {
  if (points_ == 0) {
    firstTime_ = point.wallTime;
    beginAnew(point.step);
  } else {
    intervals_.add(last_.wallTime, point.wallTime);
    constexpr std::int64_t kHalf = std::int64_t{1} << 30;
    if (last_.step >= kHalf && point.step <= -kHalf) {
      report(CurveRule::kStepsWrapped, point,
             base::gotExpected(
                 "step " + std::to_string(point.step) + " after " + std::to_string(last_.step),
                 "increasing steps: a 32-bit counter has overflowed"),
             findings);
    }
    if (point.step < last_.step && isRestart(point.step)) {
      beginAnew(point.step);
    }
  }
  ++points_;
  ++pointsSinceBegin_;
  largestStep_ = std::max(largestStep_, point.step);
  judgeFinite(point, findings);
  if (std::isfinite(point.value)) {
    thinned_.add(point.wallTime, point.step, point.value);
    judgeSpike(point, findings);
    judgeChange(point, findings);
    window_.add(point.value);
    judgeDivergence(point, findings);
  }
  last_ = point;
}

/// Programs with many actors log steps that are slightly out of order. A restart from a checkpoint
/// that goes back by less than half a window has values as those in the window.
bool TagCurve::isRestart(std::int64_t step) const {
  const auto largest = static_cast<double>(largestStep_);
  const double stride =
      (largest - static_cast<double>(beginStep_)) / static_cast<double>(pointsSinceBegin_);
  return largest - static_cast<double>(step) > stride * static_cast<double>(options_.window) / 2;
}

void TagCurve::beginAnew(std::int64_t step) {
  window_.clear();
  outlier_.reset();
  equalPoints_ = 0;
  sinceMedian_ = 0;
  lostPoints_ = 0;
  beginStep_ = step;
  largestStep_ = step;
  pointsSinceBegin_ = 0;
  if (startMedian_ && step <= startStep_) {
    startMedian_.reset();  // not from a checkpoint
  }
}

void TagCurve::judgeFinite(const Point& point, Findings* findings) {
  if (std::isfinite(point.value) || !wants(CurveRule::kNotFinite)) {
    return;
  }
  const std::string got = std::isnan(point.value) ? "NaN" : "an infinity";
  report(CurveRule::kNotFinite, point,
         base::gotExpected(
             got + at(point.step) + (points_ > 1 ? " after " + curveNumber(last_.value) : ""),
             "a finite number"),
         findings);
}

void TagCurve::judgeSpike(const Point& point, Findings* findings) {
  if (!wants(CurveRule::kSpike) || kind_ == CurveKind::kMeasure) {
    return;
  }
  if (outlier_) {
    judgeReturn(point, findings);
    return;
  }
  if (!window_.isFull() || window_.least() == window_.largest() ||
      isExpected(point.value, window_.least(), window_.largest(), options_.spikeRanges)) {
    return;
  }
  // A small last batch makes a small loss, and a rare reward is what is learned.
  const bool isHigh = point.value > window_.largest();
  if (kind_ == (isHigh ? CurveKind::kScore : CurveKind::kLoss)) {
    return;
  }
  // If most values are equal, such as 0, the others are rare, and their range is not known.
  if (window_.median() == (isHigh ? window_.least() : window_.largest())) {
    return;
  }
  const bool isOfNoise = window_.turns() >= static_cast<std::size_t>(options_.window / 4);
  outlier_ = Outlier{point, window_.least(), window_.largest(), isOfNoise};
}

/// A curve that does not come back has jumped: a schedule, a new task, a term that is switched on.
void TagCurve::judgeReturn(const Point& point, Findings* findings) {
  constexpr std::size_t kSoon = 16;
  if (widened(outlier_->least, outlier_->largest, 1).contain(point.value)) {
    reportSpike(*outlier_, findings);
    outlier_.reset();
  } else if (++outlier_->pointsSince == kSoon) {
    outlier_.reset();
  }
}

void TagCurve::judgeEnd(Findings* findings) {
  if (outlier_ && outlier_->isOfNoise && outlier_->pointsSince == 0 && wants(CurveRule::kSpike)) {
    reportSpike(*outlier_, findings);
  }
}

void TagCurve::reportSpike(const Outlier& outlier, Findings* findings) {
  const Limits limits = widened(outlier.least, outlier.largest, options_.spikeRanges);
  report(CurveRule::kSpike, outlier.point,
         base::gotExpected(curveNumber(outlier.point.value) + at(outlier.point.step),
                           curveNumber(limits.least) + " to " + curveNumber(limits.largest) +
                               ": the last " + std::to_string(options_.window) + " values were " +
                               curveNumber(outlier.least) + " to " + curveNumber(outlier.largest)),
         findings);
}

void TagCurve::judgeChange(const Point& point, Findings* findings) {
  constexpr std::size_t kFewestChanges = 5;
  if (points_ > 1 && point.value != last_.value) {
    // A curve that repeats values does so again.
    constexpr std::size_t kLonger = 4;
    mostEqual_ = std::max(mostEqual_, equalPoints_);
    fewestOfNoChange_ =
        std::max(static_cast<std::size_t>(options_.constantPoints), kLonger * mostEqual_);
    rises_ += point.value > last_.value ? 1 : 0;
    falls_ += point.value < last_.value ? 1 : 0;
    equalPoints_ = 0;
  }
  if (++equalPoints_ != fewestOfNoChange_) {
    return;
  }
  // A term that is off is 0, a score may have reached its best value, and the best loss so far
  // changes in one direction only.
  const bool hasChanged = rises_ + falls_ > 0;
  const bool isEnd = kind_ == CurveKind::kScore && hasChanged;
  const bool isBest = rises_ + falls_ >= kFewestChanges && (rises_ == 0 || falls_ == 0);
  if (kind_ == CurveKind::kOther || kind_ == CurveKind::kMeasure || isEnd || isBest ||
      point.value == 0 ||
      (kind_ == CurveKind::kScore && (point.value == 1 || point.value == 100))) {
    return;
  }
  report(CurveRule::kNoChange, point,
         base::gotExpected(std::to_string(equalPoints_) + " points of " + curveNumber(point.value) +
                               " in a row up to step " + std::to_string(point.step),
                           "a change"),
         findings);
}

void TagCurve::judgeDivergence(const Point& point, Findings* findings) {
  if ((kind_ != CurveKind::kLoss && kind_ != CurveKind::kObjective) || !window_.isFull() ||
      !wants(CurveRule::kDivergence)) {
    return;
  }
  if (sinceMedian_++ % static_cast<std::size_t>(std::max<std::int64_t>(1, options_.window / 2)) !=
      0) {
    return;
  }
  const double median = window_.median();
  if (!startMedian_) {
    if (median != 0) {  // a term that is switched on later begins then
      startMedian_ = median;
      startStep_ = point.step;
      startPoints_ = points_;
      bestMedian_ = median;
      bestStep_ = point.step;
      bestPoints_ = points_;
    }
    return;
  }
  const double start = *startMedian_;
  if (kind_ == CurveKind::kObjective && start < 0) {
    return;  // may be one that should rise, such as the bound of a likelihood
  }
  if (median < bestMedian_) {
    bestMedian_ = median;
    bestStep_ = point.step;
    bestPoints_ = points_;
    lostPoints_ = 0;
    return;
  }
  const double noise = window_.medianChange();
  const double improved = start - bestMedian_;
  const double worse = median - start;
  // Losses of reinforcement learning and of adversaries rise as their other side learns, and many
  // begin near 0. So a loss diverges that has fallen before, or whose order of magnitude changes to
  // one that no loss has.
  constexpr double kExplosion = 1e4;
  const bool hasLearned = improved > std::max(kNoises * noise, 0.1 * std::abs(start));
  const bool isUndone = hasLearned && worse > improved && worse > kNoises * noise;
  const bool isExplosion = worse > kExplosion * std::max(std::abs(start), 1.0);
  if (isUndone || isExplosion) {
    report(CurveRule::kDivergence, point,
           base::gotExpected("a median of " + curveNumber(median) + " over " +
                                 std::to_string(options_.window) + " points up to step " +
                                 std::to_string(point.step),
                             "less than at the start, " + curveNumber(start) + "; the least was " +
                                 curveNumber(bestMedian_) + at(bestStep_)),
           findings);
    return;
  }
  judgeGain(point, median, noise);
}

/// A language model that diverges stays below its start: its loss goes from 11 to 2.5, and back to
/// 7. So a loss has also diverged that has lost most of what it had gained, or that had little to
/// gain and has doubled, and that does not fall again, as it does with the next task, after a warm
/// restart, or after a spike.
void TagCurve::judgeGain(const Point& point, double median, double noise) {
  constexpr double kGain = 0.3;       // of the start
  constexpr double kRecovery = 0.05;  // of what was lost
  constexpr std::size_t kWindows = 3;
  constexpr std::size_t kShare = 6;  // of all points
  const std::size_t longTime = kWindows * static_cast<std::size_t>(options_.window);
  const double start = *startMedian_;
  const double gained = start - bestMedian_;
  const double lost = median - bestMedian_;
  const bool hasGained = gained >= std::max(kNoises * noise, kGain * std::abs(start));
  const bool isLost = hasGained && lost > gained / 2;
  const bool isDoubled = bestPoints_ - startPoints_ >= longTime && median - start > std::abs(start);
  if (!isWholeLoss_ || hasLost_ || lost < kNoises * noise || !(isLost || isDoubled)) {
    lostPoints_ = 0;
    return;
  }
  if (lostPoints_ == 0 || median < lostMedian_ - kRecovery * (lostMedian_ - bestMedian_)) {
    lostPoints_ = points_;
    lostStep_ = point.step;
    lostMedian_ = median;
    return;
  }
  lostMedian_ = std::max(lostMedian_, median);
  if (points_ - lostPoints_ < std::max(longTime, points_ / kShare)) {
    return;
  }
  hasLost_ = true;
  const std::string since = ": since step " + std::to_string(lostStep_) + " ";
  lostGain_ = std::make_unique<LostGain>(LostGain{
      point,
      base::gotExpected(
          "a median of " + curveNumber(median) + " over " + std::to_string(options_.window) +
              " points up to step " + std::to_string(point.step),
          "about " + curveNumber(bestMedian_) + ", as" + at(bestStep_) + ", after " +
              curveNumber(start) + " at the start" + since +
              (isLost ? "more than half of this gain is lost" : "it is more than doubled"))});
}

}  // namespace steptape::detail::log
