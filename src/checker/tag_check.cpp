// SPDX-License-Identifier: Apache-2.0
#include "checker/tag_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "steptape/event/custom_scalars_layout.h"
#include "steptape/event/plugin_content.h"
#include "steptape/reader/values.h"

#include "reader/event_values.h"

namespace steptape::detail {
namespace {

constexpr CheckRule kLayoutReplaced{"layout-replaced", ReaderEffect::kLoss, ReaderEffect::kLoss};
constexpr CheckRule kExperimentConflict{"experiment-conflict", ReaderEffect::kLoss,
                                        ReaderEffect::kLoss};
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

bool isSame(std::optional<double> a, std::optional<double> b) {
  return a == b || (a && b && std::isnan(*a) && std::isnan(*b));
}

}  // namespace

void TagCheck::takeSummary(const event::Summary& summary, std::int64_t step,
                           const FindingPlace& place) {
  for (const event::Value& value : summary.values) {
    takeValue(value, step, place);
  }
  lastStep_ = step;
}

bool TagCheck::takeScalars(const ScalarEventView& event, const FindingPlace& place) {
  ScalarView scalar;
  ScalarEventView look = event;
  while (look.next(&scalar)) {
    // A bare scalar always has the right form, so that only its step can be wrong.
    const auto it = tags_.find(scalar.tag);
    if (scalar.hasMetadata || it == tags_.end() ||
        it->second.kind.dataClass != event::DataClass::kScalar) {
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

void TagCheck::takeRestart(std::int64_t step) {
  for (auto& [tag, state] : tags_) {
    if (!state.lastStep || *state.lastStep < step) {
      continue;
    }
    state.lastStep.reset();
    if (step > std::numeric_limits<std::int64_t>::min()) {
      state.lastStep = step - 1;
    }
  }
}

void TagCheck::takeValue(const event::Value& value, std::int64_t step, const FindingPlace& place) {
  const auto report = [&](const std::optional<FormProblem>& problem) {
    if (problem) {
      findings_->addForTag(problem->rule, place, value.tag, [&] { return problem->message; });
    }
  };
  const auto [it, isNew] = tags_.try_emplace(value.tag);
  TagState& state = it->second;
  if (isNew) {
    state.kind = kindOf(value);
    report(checkKind(value, state.kind));
  }
  report(checkForm(value, state.kind));
  if (value.tag == kExperimentTag) {
    takeExperiment(value, place);
  } else if (state.kind.plugin == event::kCustomScalarsPlugin) {
    takeLayout(value, place);
  } else if (state.kind.plugin != event::kHparamsPlugin) {
    takePoint(value.tag, step, numberOf(value), &state, place);
  }
}

void TagCheck::takePoint(const std::string& tag, std::int64_t step, std::optional<double> number,
                         TagState* state, const FindingPlace& place) {
  // A repeated point is shown. Metrics of hyperparameters repeat the end of a curve.
  const bool isRepeated = number && state->lastStep == step && isSame(number, state->lastNumber);
  if (state->lastStep && step <= *state->lastStep && !isRepeated) {
    checkStep(tag, step, *state, place);
  }
  state->lastStep = step;
  state->lastNumber = number;
}

void TagCheck::checkStep(const std::string& tag, std::int64_t step, const TagState& state,
                         const FindingPlace& place) {
  const bool isDuplicate = step == *state.lastStep;
  const bool isPurged = !hasRestarts_ && lastStep_ && step < *lastStep_;
  const CheckRule rule{isDuplicate ? "duplicate-step" : "step-goes-back", ReaderEffect::kLoss,
                       isPurged ? ReaderEffect::kLoss : ReaderEffect::kNone};
  findings_->addForTag(rule, place, tag, [&] {
    return "got step " + std::to_string(step) + " after step " + std::to_string(*state.lastStep) +
           "; expected a greater one: the fast data server drops what was written before at step " +
           std::to_string(step) + (isDuplicate ? "" : " and later") +
           (isPurged ? ", and so does the Python loader, as the file names no version" : "");
  });
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

}  // namespace steptape::detail
