// SPDX-License-Identifier: Apache-2.0
#include "steptape/log/curve_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/got_expected.h"
#include "log/curves/curve_names.h"
#include "log/curves/long_intervals.h"
#include "log/curves/parted_curves.h"
#include "log/curves/tag_curve.h"

namespace steptape {
namespace {

using detail::log::curveNumber;
using detail::log::SilentTimes;
using detail::log::TagCurve;
using detail::log::TimeSpan;

constexpr std::size_t kFewestRegular = 20;  // points of a tag that is logged regularly

void checkOptions(const CurveCheckOptions& options) {
  constexpr std::int64_t kLeastWindow = 8;
  if (options.window < kLeastWindow) {
    detail::base::reject(std::to_string(options.window), "at least 8", "CurveCheckOptions::window");
  }
  if (options.constantPoints < 2) {
    detail::base::reject(std::to_string(options.constantPoints), "at least 2",
                         "CurveCheckOptions::constantPoints");
  }
  for (const auto& [value, name] :
       {std::pair{options.spikeRanges, "CurveCheckOptions::spikeRanges"},
        std::pair{options.stoppedIntervals, "CurveCheckOptions::stoppedIntervals"}}) {
    if (!(value > 0)) {
      detail::base::reject(curveNumber(value), "more than 0", name);
    }
  }
}

/// Returns what wall times count, if not seconds; null if they may be seconds.
const char* unitOf(double wallTime) {
  constexpr double kMilliseconds = 1e11;  // as seconds, in the year 5138
  constexpr double kMicroseconds = 1e14;
  constexpr double kNanoseconds = 1e17;
  if (wallTime >= kNanoseconds) {
    return "nanoseconds";
  }
  if (wallTime >= kMicroseconds) {
    return "microseconds";
  }
  return wallTime >= kMilliseconds ? "milliseconds" : nullptr;
}

std::string at(std::int64_t step) {
  return " at step " + std::to_string(step);
}

/// Returns names as a sentence has them: "a, b and c", "a, b and 3 more".
std::string listOf(const std::vector<std::string>& names, std::size_t most) {
  const std::size_t named = names.size() > most ? most - 1 : names.size();
  std::string list = names.front();
  for (std::size_t i = 1; i < named; ++i) {
    list += (i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return named == names.size() ? list
                               : list + " and " + std::to_string(names.size() - named) + " more";
}

}  // namespace

const char* curveRuleName(CurveRule rule) noexcept {
  switch (rule) {
    case CurveRule::kNotFinite:
      return "not-finite";
    case CurveRule::kSpike:
      return "spike";
    case CurveRule::kDivergence:
      return "divergence";
    case CurveRule::kNoChange:
      return "no-change";
    case CurveRule::kStopped:
      return "stopped";
    case CurveRule::kStepsWrapped:
      return "steps-wrapped";
    case CurveRule::kMilliseconds:
      return "milliseconds";
    case CurveRule::kParted:
      return "parted";
  }
  return "";
}

namespace detail::log {

/// The curves of a CurveCheck.
struct CurveSet {
  explicit CurveSet(CurveCheckOptions given) : options(std::move(given)) {}

  TagCurve& curveOf(std::string_view tag);
  void tellLostGains();
  void nameTheFirst(std::vector<CurveFinding>* all);
  std::string firstBeside(const CurveFinding& finding) const;
  std::vector<TimeSpan> silences() const;
  void judgeStopped();
  void judgeParted();

  const CurveCheckOptions options;
  std::map<std::string, TagCurve, std::less<>> curves;
  TagCurve* latest = nullptr;  // programs log a tag again and again, or tags in turn
  std::vector<CurveFinding> findings;
  bool hasToldUnit = false;
  bool isContest = false;  // see isOfContest()
  std::vector<std::pair<TagCurve*, std::unique_ptr<TagCurve::LostGain>>> lostGains;
  std::vector<CurveFinding> firstNotFinite;  // of all tags, by their time; several at one time
};

TagCurve& CurveSet::curveOf(std::string_view tag) {
  if (latest == nullptr || latest->tag() != tag) {
    auto found = curves.find(tag);
    if (found == curves.end()) {
      found = curves
                  .emplace(std::piecewise_construct, std::forward_as_tuple(tag),
                           std::forward_as_tuple(std::string(tag), options))
                  .first;
      isContest = isContest || detail::log::isOfContest(tag);
    }
    latest = &found->second;
  }
  return *latest;
}

/// What rises in a contest may be what others have learned.
void CurveSet::tellLostGains() {
  for (const auto& [curve, lost] : std::exchange(lostGains, {})) {
    if (!isContest) {
      curve->report(CurveRule::kDivergence, lost->point, std::move(lost->message), &findings);
    }
  }
}

/// A loss that is NaN makes all others NaN: their findings name the first one.
void CurveSet::nameTheFirst(std::vector<CurveFinding>* all) {
  for (const CurveFinding& finding : *all) {
    if (finding.rule != CurveRule::kNotFinite) {
      continue;
    }
    if (!firstNotFinite.empty() && finding.wallTime < firstNotFinite.front().wallTime) {
      firstNotFinite.clear();
    }
    // All scalars of a step have one time.
    if (firstNotFinite.empty() ||
        (finding.wallTime == firstNotFinite.front().wallTime && !options.assumeLogOrder)) {
      firstNotFinite.push_back(finding);
    }
  }
  for (CurveFinding& finding : *all) {
    if (finding.rule == CurveRule::kNotFinite) {
      finding.message += firstBeside(finding);
    }
  }
}

/// Returns what follows the message of a finding: which other tags were not finite before it or at
/// its time.
std::string CurveSet::firstBeside(const CurveFinding& finding) const {
  constexpr std::size_t kMostNamed = 4;
  std::vector<std::string> others;
  for (const CurveFinding& first : firstNotFinite) {
    if (first.tag != finding.tag) {
      others.push_back(first.tag);
    }
  }
  if (others.empty()) {
    return "";
  }
  const std::string names = listOf(others, kMostNamed);
  if (others.size() < firstNotFinite.size()) {
    return "; not finite at the same time: " + names;
  }
  return (others.size() == 1 ? "; the first that was not finite is "
                             : "; the first that were not finite are ") +
         names + at(firstNotFinite.front().step);
}

/// Returns the times in which no tag has a point, such as those between two sessions: by far longer
/// than usual.
std::vector<TimeSpan> CurveSet::silences() const {
  constexpr double kLonger = 10;
  SilentTimes silent;
  double usual = 0;
  std::size_t mostPoints = 0;
  for (const auto& [tag, curve] : curves) {
    const double begin = curve.firstTime();
    const double end = curve.last().wallTime;
    silent.add({begin, end}, curve.intervals());
    if (curve.points() > mostPoints) {
      mostPoints = curve.points();
      usual = (end - begin) / static_cast<double>(mostPoints);
    }
  }
  return silent.longerThan(kLonger * usual);
}

/// A tag has stopped if another one that was logged as often goes on. A tag of another phase of the
/// program, such as a last evaluation, is no such tag.
void CurveSet::judgeStopped() {
  double end = -std::numeric_limits<double>::infinity();
  for (const auto& [tag, curve] : curves) {
    end = std::max(end, curve.last().wallTime);
  }
  const std::vector<TimeSpan> silent = silences();
  for (auto& entry : curves) {
    TagCurve& curve = entry.second;
    const double missing = TimeSpan{curve.last().wallTime, end}.lengthWithout(silent);
    const double longest = curve.intervals().longestWithout(silent);
    if (curve.points() < kFewestRegular || longest <= 0 ||
        missing <= options.stoppedIntervals * longest) {
      continue;
    }
    const TagCurve::Point& last = curve.last();
    const auto goesOn = std::find_if(curves.begin(), curves.end(), [&](const auto& other) {
      const std::size_t later = other.second.thinned().pointsAfter(last.wallTime);
      const std::size_t before = other.second.points() - std::min(later, other.second.points());
      return later >= kFewestRegular && before >= curve.points() / 2 &&
             other.second.firstTime() < last.wallTime;
    });
    if (goesOn != curves.end()) {
      curve.report(CurveRule::kStopped, last,
                   detail::base::gotExpected(
                       "no point after step " + std::to_string(last.step) + " for " +
                           curveNumber(missing) + " s, while " + goesOn->first + " goes on",
                       "one at least every " + curveNumber(longest) + " s, as before"),
                   &findings);
    }
  }
}

/// The loss of the training may be named so, or not: "loss" and "val_loss".
void CurveSet::judgeParted() {
  struct Parts {
    std::vector<TagCurve*> training;
    std::vector<TagCurve*> validation;
    std::vector<TagCurve*> unnamed;
  };
  std::map<std::string, Parts> losses;
  for (auto& [tag, curve] : curves) {
    if (curve.kind() == CurveKind::kLoss) {
      const detail::log::PartedName name = detail::log::partedNameOf(tag);
      Parts& parts = losses[name.rest];
      (name.part == CurvePart::kTraining     ? parts.training
       : name.part == CurvePart::kValidation ? parts.validation
                                             : parts.unnamed)
          .push_back(&curve);
    }
  }
  for (const auto& [name, parts] : losses) {
    for (TagCurve* const validation : parts.validation) {
      for (const TagCurve* const training :
           parts.training.empty() ? parts.unnamed : parts.training) {
        if (auto message = detail::log::partingOf(*training, *validation)) {
          validation->report(CurveRule::kParted, validation->last(), std::move(*message),
                             &findings);
        }
      }
    }
  }
}

}  // namespace detail::log

struct CurveCheck::State : detail::log::CurveSet {
  using CurveSet::CurveSet;
};

CurveCheck::CurveCheck(CurveCheckOptions options) {
  checkOptions(options);
  state_ = std::make_unique<State>(std::move(options));
}

CurveCheck::CurveCheck(CurveCheck&&) noexcept = default;
CurveCheck& CurveCheck::operator=(CurveCheck&&) noexcept = default;
CurveCheck::~CurveCheck() = default;

void CurveCheck::add(std::string_view tag, std::int64_t step, double value, double wallTime) {
  const TagCurve::Point point{step, value, wallTime};
  TagCurve& curve = state_->curveOf(tag);
  curve.add(point, &state_->findings);
  if (curve.lostGain() != nullptr) {
    state_->lostGains.emplace_back(&curve, std::move(curve.lostGain()));
  }
  if (state_->hasToldUnit) {
    return;
  }
  if (const char* const unit = unitOf(wallTime)) {
    state_->hasToldUnit = true;
    curve.report(CurveRule::kMilliseconds, point,
                 detail::base::gotExpected("a wall time of " + curveNumber(wallTime),
                                           "seconds since 1970: these are " + std::string(unit)),
                 &state_->findings);
  }
}

std::vector<CurveFinding> CurveCheck::take() {
  state_->tellLostGains();
  std::vector<CurveFinding> findings = std::exchange(state_->findings, {});
  state_->nameTheFirst(&findings);
  return findings;
}

std::vector<CurveFinding> CurveCheck::finish() {
  for (auto& [tag, curve] : state_->curves) {
    curve.judgeEnd(&state_->findings);
  }
  state_->judgeStopped();
  state_->judgeParted();
  std::vector<CurveFinding> findings = take();
  std::stable_sort(
      findings.begin(), findings.end(),
      [](const CurveFinding& a, const CurveFinding& b) { return a.wallTime < b.wallTime; });
  return findings;
}

}  // namespace steptape
