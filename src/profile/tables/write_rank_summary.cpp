// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "steptape/profile/trace_summary.h"
#include "steptape/ranks/communicator.h"

#include "metrics/watch/straggler_analysis.h"
#include "values/kinds/table_cells.h"
#include "values/kinds/text.h"

namespace steptape {
namespace {

using detail::metrics::PartSeconds;
using detail::metrics::StragglerAnalysis;
using detail::metrics::TimedPart;
using detail::values::codeSpan;
using detail::values::millisecondsText;
using detail::values::percentText;

constexpr char kPrefix[] = "profile/straggler";
/// Same as StragglerReportOptions::threshold.
constexpr double kToldSlowdown = 1.2;

std::string notes(ArrayView<const RankProfile> ranks, std::size_t leftOut) {
  std::string text = "Mean over " + std::to_string(ranks.size()) +
                     " ranks, of which one without the operator counts with 0.";
  const auto [least, most] = std::minmax_element(
      ranks.begin(), ranks.end(),
      [](const auto& a, const auto& b) { return a.profile.steps < b.profile.steps; });
  if (least->profile.steps < most->profile.steps) {
    text += " They recorded " + std::to_string(least->profile.steps) + " to " +
            std::to_string(most->profile.steps) + " steps.";
  }
  if (leftOut > 0) {
    text += " The " + std::to_string(leftOut) + " operators with the least self time are left out.";
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].profile.dropped > 0) {
      text += " **Rank " + std::to_string(rank) + " dropped " +
              std::to_string(ranks[rank].profile.dropped) + " spans.**";
    }
  }
  return text + "\n";
}

std::string rankTable(ArrayView<const RankProfile> ranks, std::int64_t maxRows) {
  const std::vector<RankedOpStats> operators = summarizeRankProfiles(ranks);
  std::int64_t allSelf = 0;
  for (const RankedOpStats& op : operators) {
    allSelf += op.meanSelf.count();
  }
  std::vector<std::vector<std::string>> rows;
  for (const RankedOpStats& op : operators) {
    if (rows.size() == static_cast<std::size_t>(maxRows)) {
      break;
    }
    const bool isOneAhead = op.maxSelf > op.meanSelf;
    rows.push_back({std::to_string(rows.size() + 1), codeSpan(op.name), spanKindName(op.kind),
                    std::to_string(op.calls), millisecondsText(op.meanSelf.count()),
                    percentText(op.meanSelf.count(), allSelf), millisecondsText(op.maxSelf.count()),
                    isOneAhead
                        ? rankAndNode(static_cast<int>(op.maxTrace), ranks[op.maxTrace].nodeName)
                        : ""});
  }
  return detail::values::markdownTable(
             {"#", "operator", "kind", "calls", "mean self ms", "self %", "max self ms", "of"},
             rows) +
         "\n" + notes(ranks, operators.size() - rows.size());
}

/// Returns the parts to compare. "total" is not a part of work, because it contains all others.
std::vector<StepSummaryPart> comparedParts() {
  std::vector<StepSummaryPart> parts(kStepSummaryParts.begin(), kStepSummaryParts.end());
  parts.push_back({"total", &StepSummary::total});
  return parts;
}

StragglerAnalysis analyze(const std::vector<PartSeconds>& secondsByRank) {
  std::vector<TimedPart> parts;
  for (const StepSummaryPart& part : comparedParts()) {
    const bool isWork = part.nanos != &StepSummary::transfer && part.nanos != &StepSummary::wait &&
                        part.nanos != &StepSummary::total;
    parts.push_back({part.name, isWork});
  }
  return detail::metrics::analyzeStragglers(parts, secondsByRank);
}

PartSeconds secondsOf(const StepSummary& step) {
  PartSeconds seconds;
  for (const StepSummaryPart& part : comparedParts()) {
    seconds.push_back(static_cast<double>(step.*part.nanos) * 1e-9);
  }
  return seconds;
}

using SecondsByStep = std::map<std::int64_t, std::vector<PartSeconds>>;

/// Returns the seconds of all ranks, by rank, for each step that every rank has.
SecondsByStep commonSteps(ArrayView<const RankProfile> ranks) {
  SecondsByStep steps;
  for (const RankProfile& rank : ranks) {
    for (const StepSummary& step : rank.steps) {
      steps[step.number].push_back(secondsOf(step));
    }
  }
  for (auto step = steps.begin(); step != steps.end();) {
    step = step->second.size() < ranks.size() ? steps.erase(step) : std::next(step);
  }
  return steps;
}

void addTo(std::vector<PartSeconds>* sums, const std::vector<PartSeconds>& secondsByRank,
           double weight) {
  sums->resize(secondsByRank.size());
  for (std::size_t rank = 0; rank < secondsByRank.size(); ++rank) {
    const PartSeconds& seconds = secondsByRank[rank];
    PartSeconds& sum = (*sums)[rank];
    sum.resize(seconds.size());
    for (std::size_t part = 0; part < seconds.size(); ++part) {
      sum[part] += seconds[part] * weight;
    }
  }
}

void writeStepScalars(SummaryWriter& writer, const SecondsByStep& steps) {
  for (const auto& [number, secondsByRank] : steps) {
    const StragglerAnalysis analysis = analyze(secondsByRank);
    StepBatch batch = writer.atStep(number);
    detail::metrics::addParts(&batch, kPrefix, analysis);
    detail::metrics::addSlowest(&batch, kPrefix, analysis);
  }
}

std::vector<PartSeconds> meansOver(const SecondsByStep& steps) {
  std::vector<PartSeconds> meanByRank;
  for (const auto& [number, secondsByRank] : steps) {
    addTo(&meanByRank, secondsByRank, 1.0 / static_cast<double>(steps.size()));
  }
  return meanByRank;
}

void writeStragglers(SummaryWriter& writer, ArrayView<const RankProfile> ranks,
                     const SecondsByStep& steps, std::int64_t step) {
  std::vector<std::string> nodeByRank;
  for (const RankProfile& rank : ranks) {
    nodeByRank.push_back(rank.nodeName);
  }
  const std::vector<PartSeconds> meanByRank = meansOver(steps);
  const StragglerAnalysis overall = analyze(meanByRank);
  writer.addText(std::string(kPrefix) + "/parts", detail::metrics::partTable(overall, nodeByRank),
                 step);
  if (overall.slowdown > kToldSlowdown) {
    writer.addText(std::string(kPrefix) + "/report",
                   detail::metrics::describeStraggler(overall, meanByRank, nodeByRank), step);
  }
}

}  // namespace

void writeRankSummary(SummaryWriter& writer, ArrayView<const RankProfile> ranks, std::int64_t step,
                      const OpTableOptions& options) {
  writer.addText("profile/operators_by_rank", rankTable(ranks, options.maxRows), step);
  const SecondsByStep steps = commonSteps(ranks);
  if (options.detailScalars) {
    writeStepScalars(writer, steps);
  }
  if (!steps.empty()) {
    writeStragglers(writer, ranks, steps, step);
  }
}

}  // namespace steptape
