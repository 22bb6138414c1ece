// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/export.h"

namespace steptape {

/// The rules of CurveCheck.
enum class CurveRule : std::uint8_t {
  kNotFinite,     ///< A value is NaN or infinite.
  kSpike,         ///< A value is far outside of those before it.
  kDivergence,    ///< A loss is worse than at its start, or has lost most of what it had gained.
  kNoChange,      ///< A loss or a score has not changed for a long time.
  kStopped,       ///< A tag that was logged regularly is not logged any more, while others are.
  kStepsWrapped,  ///< Steps went from the largest 32-bit number to the smallest.
  kMilliseconds,  ///< Wall times are not in seconds.
  kParted,        ///< The loss of the validation rises while that of the training falls.
};

/// Returns "not-finite", "spike", "divergence", "no-change", "stopped", "steps-wrapped",
/// "milliseconds", "parted".
STEPTAPE_EXPORT const char* curveRuleName(CurveRule rule) noexcept;

/// Something about a curve that its owner would want to know.
struct CurveFinding {
  CurveRule rule = CurveRule::kNotFinite;
  std::string tag;
  std::int64_t step = 0;
  double value = 0;
  double wallTime = 0;  ///< @units Seconds since 1970-01-01 UTC.
  /// What was got and expected, with the numbers of the rule: "got 812 at step 4100; expected at
  /// most 3.4, …".
  std::string message;
};

struct CurveCheckOptions {
  /// The number of earlier points that a spike is compared with.
  std::int64_t window = 128;
  /// A spike is outside of the range of these points by more than this many times its width.
  double spikeRanges = 6;
  /// The number of equal points that are no change.
  std::int64_t constantPoints = 100;
  /// A tag has stopped if it is missing for this many times its longest interval so far.
  double stoppedIntervals = 20;
  /// The rules that are left out.
  std::vector<CurveRule> leftOut = {};
  /// Whether points are added in the order in which they were logged, as by a writer, and not tag
  /// by tag. Then the first of several values at one wall time that are not finite is known;
  /// otherwise all of them are named.
  bool assumeLogOrder = false;
};

/// Judges the scalars of one run, point by point or curve by curve:
///
///     CurveCheck check;
///     for (const auto& [tag, series] : run.tags()) {
///       const ScalarColumns& points = series.scalars;
///       for (std::size_t i = 0; i < points.size(); ++i) {
///         check.add(tag, points.steps[i], points.values[i], points.wallTimes[i]);
///       }
///     }
///     for (const CurveFinding& finding : check.finish()) { … }
///
/// A rule reports a tag once. A spike is reported once the curve has come back from it, or by
/// finish() if it is the last point; no peak of a time, a rate or an amount of memory is one.
/// kDivergence, kNoChange and kParted judge only tags whose name says what they are: losses and
/// errors, which should fall (`loss`, `error`, `perplexity`, …), and scores, which should rise
/// (`accuracy`, `reward`, …).
///
/// @threads Not thread-safe: one thread at a time.
/// @cost    About 0.1 us a point; 10 KiB of memory for a tag.
/// @source  docs/tool.md, "What is wrong with a curve"
class STEPTAPE_EXPORT CurveCheck {
 public:
  explicit CurveCheck(CurveCheckOptions options = {});
  CurveCheck(CurveCheck&&) noexcept;
  CurveCheck& operator=(CurveCheck&&) noexcept;
  ~CurveCheck();

  /// Takes the next point of a tag. A step that goes back by more than half a window begins the
  /// curve anew, as after a restart.
  void add(std::string_view tag, std::int64_t step, double value, double wallTime);

  /// Returns the findings since the last call, except those that need all curves.
  std::vector<CurveFinding> take();

  /// Judges all curves at the time of the last point of any: kStopped, kParted, and a spike that is
  /// the last point. May be called again after more points.
  ///
  /// @return these findings, and those of take(), in the order of their times.
  std::vector<CurveFinding> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace steptape
