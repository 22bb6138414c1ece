// SPDX-License-Identifier: Apache-2.0
#include "log/check/tag_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "steptape/events/plugin_content.h"
#include "steptape/log/values.h"

#include "base/text.h"
#include "base/utf8.h"
#include "events/messages/value_metadata.h"
#include "log/reader/event_values.h"

namespace steptape::detail::log {
namespace {

constexpr CheckRule kLayoutReplaced{"layout-replaced", ReaderEffect::kLoss, ReaderEffect::kLoss};
constexpr CheckRule kExperimentConflict{"experiment-conflict", ReaderEffect::kLoss,
                                        ReaderEffect::kLoss};
constexpr CheckRule kBlobName{"blob-name", ReaderEffect::kLoss, ReaderEffect::kNone};
constexpr CheckRule kNoData{"no-data", ReaderEffect::kNone, ReaderEffect::kLoss};
constexpr CheckRule kEmptyTag{"empty-tag", ReaderEffect::kNote, ReaderEffect::kLoss};
constexpr CheckRule kEmptyTagOfPage{"empty-tag", ReaderEffect::kLoss, ReaderEffect::kLoss};
constexpr CheckRule kEmptyTagOnly{"empty-tag", ReaderEffect::kNote, ReaderEffect::kNote};
constexpr char kExperimentTag[] = "_hparams_/experiment";

std::set<std::pair<std::string, std::string>> chartsOf(const CustomScalarsLayout& layout) {
  std::set<std::pair<std::string, std::string>> charts;
  for (const CustomScalarsCategory& category : layout.categories) {
    for (const CustomScalarsChart& chart : category.charts) {
      charts.emplace(category.title, chart.title);
    }
  }
  return charts;
}

// A sorted list of steps. They nearly always ascend, so that a vector is faster than a set.
void addStep(std::int64_t step, std::vector<std::int64_t>* steps) {
  steps->insert(std::upper_bound(steps->begin(), steps->end(), step), step);
}

bool hasStep(const std::vector<std::int64_t>& steps, std::int64_t step) {
  return std::binary_search(steps.begin(), steps.end(), step);
}

void eraseFrom(std::int64_t step, std::vector<std::int64_t>* steps) {
  steps->erase(std::lower_bound(steps->begin(), steps->end(), step), steps->end());
}

/// @param last The step that the fast data server compares with, if it drops anything.
std::string stepText(std::int64_t step, std::optional<std::int64_t> last, bool isPurged,
                     bool isHidden) {
  const std::string got = "got step " + std::to_string(step);
  if (!last) {
    return got +
           " again after a restart; expected one before all values: the Python loader shows only "
           "the first at a step";
  }
  return got + " after step " + std::to_string(*last) +
         "; expected a greater one: the fast data server drops what was written before at step " +
         std::to_string(step) + (step == *last ? "" : " and later") +
         (isPurged   ? ", and so does the Python loader, as the file names no version"
          : isHidden ? ", the Python loader shows only the first at a step"
                     : "");
}

bool isSame(std::optional<double> a, std::optional<double> b) {
  return a == b || (a && b && std::isnan(*a) && std::isnan(*b));
}

}  // namespace

void TagCheck::setRunName(std::string_view name) {
  isRunNameEscaped_ = events::isNoBlobName(name);
}

void TagCheck::takeSummary(const event::Summary& summary, std::string_view payload,
                           std::int64_t step, const FindingPlace& place) {
  events::summaryFacts(payload, &facts_);
  facts_.resize(summary.values.size());
  for (std::size_t i = 0; i < summary.values.size(); ++i) {
    takeValue(summary.values[i], facts_[i], step, place);
  }
  lastStep_ = step;
}

bool TagCheck::takeScalars(const events::ScalarEventView& event, const FindingPlace& place) {
  events::ScalarView scalar;
  events::ScalarEventView look = event;
  while (look.next(&scalar)) {
    // A bare scalar always has the right form, so that only its step can be wrong.
    const auto it = tags_.find(scalar.tag);
    if (scalar.hasMetadata || it == tags_.end() || !it->second.isScalar) {
      return false;
    }
  }
  if (!look.isWhole()) {
    return false;
  }
  for (look = event; look.next(&scalar);) {
    const auto it = tags_.find(scalar.tag);
    takePoint(it->first, event.step(), scalar.value, &it->second, place);
  }
  lastStep_ = event.step();
  return true;
}

bool TagCheck::hasStepFrom(std::int64_t step) const {
  return std::any_of(tags_.begin(), tags_.end(), [&](const auto& tag) {
    return tag.second.lastStep && *tag.second.lastStep >= step;
  });
}

void TagCheck::takeRestart(std::int64_t step, bool isIgnored, const FindingPlace& place) {
  for (auto& [tag, state] : tags_) {
    if (!state.lastStep || *state.lastStep < step) {
      continue;
    }
    if (!isIgnored) {
      eraseFrom(step, &state.blobSteps);
      if (state.blobSteps.empty() && state.kind.page == Page::kImages) {
        emptied_.try_emplace(tag, place);
      }
    }
    state.lastStep.reset();
    if (step > std::numeric_limits<std::int64_t>::min()) {
      state.lastStep = step - 1;
    }
  }
}

void TagCheck::finish() {
  for (const auto& [tag, place] : unsettled_) {
    const TagState& state = tags_.find(tag)->second;
    const std::optional<TagKind>& python = state.pythonKind.kind();
    const std::optional<FormProblem> problem = checkKind(state.kind, python);
    if (problem && state.hasData) {
      findings_->addForTag(problem->rule, place, tag, [&] { return problem->message; });
    } else if (!problem && !tag.empty() && !state.pythonKind.hasData() &&
               python->page != Page::kOther) {
      findings_->addForTag(kNoData, place, tag, [&] {
        return "got metadata of plugin '" + python->plugin +
               "' and no data with the tag; expected both: the Python loader shows no tag of the "
               "plugin in any run (HTTP 500)";
      });
    }
  }
  unsettled_.clear();
  for (const auto& [tag, place] : emptied_) {
    findings_->addForTag(kNoData, place, tag, [] {
      return std::string(
          "got a restart that discards all images of the tag; expected one that keeps some, or new "
          "ones: the Python loader shows no tag of plugin 'images' in any run (HTTP 500)");
    });
  }
  emptied_.clear();
}

/// Returns whether both readers show the tag, apart from its values.
bool TagCheck::isSettled(const TagState& state) {
  return state.pythonKind.hasData() && !checkKind(state.kind, state.pythonKind.kind());
}

void TagCheck::takeValue(const event::Value& value, const events::ValueFacts& facts,
                         std::int64_t step, const FindingPlace& place) {
  // The data server does not know names of nodes, and the Python loader half knows them.
  const std::string noTag;
  const std::string& tag = facts.hasTag ? value.tag : noTag;
  const auto report = [&](const std::optional<FormProblem>& problem) {
    if (problem) {
      findings_->addForTag(problem->rule, place, tag, [&] { return problem->message; });
    }
  };
  const auto [it, isNew] = tags_.try_emplace(tag);
  TagState& state = it->second;
  state.pythonKind.take(value, facts, file_);
  state.hasData = state.hasData || !std::holds_alternative<std::monostate>(value.data);
  if (isNew) {
    state.kind = kindOf(value);
    report(checkNames(value, state.kind));
  }
  if (isNew || (!unsettled_.empty() && unsettled_.count(tag) > 0)) {
    settle(tag, &state, place);
  }
  if (tag.empty()) {
    takeEmptyTag(value, facts, state, place);
  }
  report(checkForm(value, facts, state.kind, state.pythonKind));
  if (tag == kExperimentTag) {
    takeExperiment(value, place);
    return;
  }
  if (state.kind.plugin == event::kCustomScalarsPlugin) {
    takeLayout(value, place);
    return;
  }
  if (state.kind.plugin == event::kHparamsPlugin) {
    return;
  }
  if (state.kind.dataClass == event::DataClass::kBlobSequence &&
      !std::holds_alternative<std::monostate>(value.data)) {
    takeBlobName(tag, place);
  }
  takePoint(tag, step, numberOf(value), &state, place);
  if (state.kind.page == Page::kAudio) {
    takeClips(tag, value, &state, place);
  }
}

/// Notes whether the tag may turn out not to be shown.
void TagCheck::settle(const std::string& tag, TagState* state, const FindingPlace& place) {
  if (isSettled(*state)) {
    unsettled_.erase(tag);
  } else {
    unsettled_.try_emplace(tag, place);
  }
  const std::optional<TagKind>& python = state->pythonKind.kind();
  state->isScalar = isSettled(*state) && state->kind.dataClass == event::DataClass::kScalar &&
                    python->dataClass == event::DataClass::kScalar;
}

void TagCheck::takeEmptyTag(const event::Value& value, const events::ValueFacts& facts,
                            const TagState& state, const FindingPlace& place) {
  const bool isTensor = std::holds_alternative<event::Tensor>(value.data);
  const bool isCurve = state.kind.page == Page::kPrCurves;
  if (isTensor && !facts.nodeName.empty()) {
    findings_->addForTag(isCurve ? kEmptyTagOfPage : kEmptyTag, place, std::string(), [&] {
      return "got no tag and node name '" + base::replaceInvalidUtf8(facts.nodeName) +
             "'; expected a tag: the Python loader shows no tag of plugin '" + state.kind.plugin +
             "' in any run (HTTP 500)";
    });
  } else if (isCurve) {
    findings_->addForTag(kEmptyTagOfPage, place, std::string(), [] {
      return std::string("got no tag; expected one: the page does not show it (HTTP 500)");
    });
  } else {
    findings_->addForTag(kEmptyTagOnly, place, std::string(), [] {
      return std::string("got no tag; expected one: both readers show it without a name");
    });
  }
}

void TagCheck::takeBlobName(const std::string& tag, const FindingPlace& place) {
  if (!isRunNameEscaped_ && !events::isNoBlobName(tag)) {
    return;
  }
  findings_->addForTag(kBlobName, place, tag, [&] {
    return std::string(
               "got a quotation mark, a backslash or a control character in the name of the ") +
           (isRunNameEscaped_ ? "run" : "tag") +
           "; expected none: the fast data server serves no image, audio or graph of this name "
           "(HTTP 400)";
  });
}

void TagCheck::takeClips(const std::string& tag, const event::Value& value, TagState* state,
                         const FindingPlace& place) {
  const ClipCounts clips = clipCounts(value, state->pythonKind.omitsLabels());
  if (!state->clips) {
    state->clips = clips;
    return;
  }
  const auto differ = [](std::optional<std::uint64_t>* first, std::optional<std::uint64_t> other) {
    if (!*first) {
      *first = other;
    }
    return other && *other != **first;
  };
  const bool isFast = differ(&state->clips->fastServer, clips.fastServer);
  const bool isPython = differ(&state->clips->pythonLoader, clips.pythonLoader);
  if (!isFast && !isPython) {
    return;
  }
  const CheckRule rule{"audio-clips", isFast ? ReaderEffect::kLoss : ReaderEffect::kNone,
                       isPython ? ReaderEffect::kLoss : ReaderEffect::kNone};
  findings_->addForTag(rule, place, tag, [&] {
    const std::uint64_t got = isFast ? *clips.fastServer : *clips.pythonLoader;
    const std::uint64_t first = isFast ? *state->clips->fastServer : *state->clips->pythonLoader;
    return "got " + base::counted(got, "clip") + " after " + std::to_string(first) +
           "; expected as many in each value: the page plays none (HTTP 500)";
  });
}

/// Reports that a repeated point costs others at its step in the Python loader.
void TagCheck::reportRepeat(const std::string& tag, std::int64_t step, const FindingPlace& place) {
  const CheckRule rule{"step-goes-back", ReaderEffect::kNone, ReaderEffect::kLoss};
  findings_->addForTag(rule, place, tag, [&] {
    return "got step " + std::to_string(step) + " after step " + std::to_string(*lastStep_) +
           " of another tag; expected a greater one: the Python loader drops what was written "
           "before at step " +
           std::to_string(step) + " and later, as the file names no version";
  });
}

void TagCheck::takePoint(const std::string& tag, std::int64_t step, std::optional<double> number,
                         TagState* state, const FindingPlace& place) {
  // A repeated point is shown. Metrics of hyperparameters repeat the end of a curve.
  const bool isRepeated = number && state->lastStep == step && isSame(number, state->lastNumber);
  const bool isBack = state->lastStep && step <= *state->lastStep && !isRepeated;
  // Without restart events, the Python loader drops the tag's points from this step on.
  const bool drops = !hasRestarts_ && lastStep_ && step < *lastStep_;
  const bool isPurged = isBack && drops;
  if (isPurged) {
    eraseFrom(step, &state->blobSteps);
  }
  if (!isRepeated) {
    state->hasOthersAtStep = state->lastStep == step;
  } else if (drops && std::exchange(state->hasOthersAtStep, false)) {
    reportRepeat(tag, step, place);
  }
  const bool isHidden = hasStep(state->blobSteps, step);
  if (isBack || isHidden) {
    const bool isDuplicate = !isBack || step == *state->lastStep;
    const CheckRule rule{isDuplicate ? "duplicate-step" : "step-goes-back",
                         isBack ? ReaderEffect::kLoss : ReaderEffect::kNone,
                         isPurged || isHidden ? ReaderEffect::kLoss : ReaderEffect::kNone};
    findings_->addForTag(rule, place, tag, [&] {
      return stepText(step, isBack ? state->lastStep : std::nullopt, isPurged, isHidden);
    });
  }
  if (state->kind.dataClass == event::DataClass::kBlobSequence) {
    addStep(step, &state->blobSteps);
    if (!emptied_.empty()) {
      emptied_.erase(tag);
    }
  }
  state->lastStep = step;
  state->lastNumber = number;
}

void TagCheck::takeLayout(const event::Value& value, const FindingPlace& place) {
  CustomScalarsLayout layout;
  if (!decodeLayout(value, &layout).ok()) {
    return;
  }
  auto charts = chartsOf(layout);
  for (const auto& shown : charts_) {
    if (charts.count(shown) == 0) {
      findings_->addForTag(kLayoutReplaced, place, value.tag, [&] {
        return "got a layout without the chart '" + shown.second +
               "' of the one before: TensorBoard shows a run's last layout only";
      });
    }
  }
  charts_ = std::move(charts);
}

void TagCheck::takeExperiment(const event::Value& value, const FindingPlace& place) {
  const std::string content = value.metadata ? value.metadata->pluginContent : std::string();
  if (!report_->experiment) {
    report_->experiment = ExperimentRecord{place.path, place.offset, content};
  } else if (report_->experiment->content != content) {
    findings_->addForTag(kExperimentConflict, place, value.tag, [] {
      return "got another experiment record than the run's first: TensorBoard takes the first";
    });
  }
}

}  // namespace steptape::detail::log
