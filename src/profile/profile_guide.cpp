// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_guide.h"

#include <cstdint>
#include <vector>

#include "steptape/profile/trace_summary.h"
#include "steptape/summary/text.h"
#include "steptape/trace/chrome_trace.h"

#include "profile/table_cells.h"

namespace steptape::detail {
namespace {

/// The mean milliseconds of each part, in order of time.
std::string stepTable(const std::vector<StepSummary>& steps) {
  const auto sumOf = [&](std::int64_t StepSummary::*nanos) {
    std::int64_t sum = 0;
    for (const StepSummary& step : steps) {
      sum += step.*nanos;
    }
    return sum;
  };
  const auto count = static_cast<std::int64_t>(steps.size());
  const std::int64_t total = sumOf(&StepSummary::total);
  std::vector<std::vector<std::string>> rows;
  for (const StepSummaryPart& part : kStepSummaryParts) {
    if (const std::int64_t nanos = sumOf(part.nanos); nanos > 0) {
      rows.push_back({part.name, millisecondsText(nanos / count), percentText(nanos, total)});
    }
  }
  rows.push_back({"**all**", millisecondsText(total / count), "100.0"});
  return markdownTable({"a step's", "mean ms", "%"}, rows);
}

std::string stepsText(const Trace& trace) {
  const std::vector<StepSummary> steps = summarizeSteps(trace);
  if (steps.empty()) {
    return "";
  }
  const bool isOne = steps.size() == 1;
  const std::string numbers = isOne ? "Step " + std::to_string(steps.front().number)
                                    : "Steps " + std::to_string(steps.front().number) + " to " +
                                          std::to_string(steps.back().number);
  const std::string rank = trace.worldSize > 1 ? " of rank " + std::to_string(trace.rank) : "";
  return "**" + numbers + rank + (isOne ? " was" : " were") + " recorded.**\n\n" +
         stepTable(steps) + "\n";
}

}  // namespace

std::string profileGuide(const Trace& trace, const ProfilerOptions& options) {
  std::string text = stepsText(trace);
  if (options.logDir.empty() || !(options.chromeTrace || options.xplane)) {
    return text;
  }
  text += "To see when what happened:\n\n";
  if (options.chromeTrace) {
    text += "- **timeline**: open `" + chromeTraceFileName(trace) + "` of `" + options.logDir +
            "` at [ui.perfetto.dev](https://ui.perfetto.dev)";
    if (trace.worldSize > 1) {
      text += ", or that of all ranks: `steptape merge-traces " + options.logDir +
              " --output ranks.json.gz`";
    }
    text += "\n";
  }
  if (options.xplane) {
    text += "- **TensorBoard's page Profile**: `pip install xprof`, and start TensorBoard again\n";
  }
  text += "- **terminal**: `steptape profile " + options.logDir + "`\n";
  return text;
}

}  // namespace steptape::detail
