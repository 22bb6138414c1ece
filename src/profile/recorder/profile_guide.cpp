// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/profile_guide.h"

#include <cstdint>
#include <vector>

#include "steptape/profile/trace_summary.h"

#include "profile/trace/chrome/chrome_trace.h"
#include "profile/trace/perfetto/perfetto_trace.h"
#include "values/kinds/table_cells.h"
#include "values/kinds/text.h"

namespace steptape::detail::profile {
namespace {

/// Formats the mean milliseconds of each part.
std::string stepTable(const std::vector<StepSummary>& steps) {
  const auto count = static_cast<std::int64_t>(steps.size());
  const auto sumOf = [&](std::int64_t StepSummary::*nanos) {
    std::int64_t sum = 0;
    for (const StepSummary& step : steps) {
      sum += step.*nanos;
    }
    return sum;
  };
  const std::int64_t total = sumOf(&StepSummary::total);
  std::vector<std::string> titles{"a step's"};
  std::vector<std::string> means{"mean ms"};
  std::vector<std::string> shares{"%"};
  const auto add = [&](const char* title, std::int64_t nanos) {
    titles.emplace_back(title);
    means.push_back(values::millisecondsText(nanos / count));
    shares.push_back(values::percentText(nanos, total));
  };
  for (const StepSummaryPart& part : kStepSummaryParts) {
    if (const std::int64_t nanos = sumOf(part.nanos); nanos > 0) {
      add(part.name, nanos);
    }
  }
  add("total", total);
  return values::markdownTable(titles, {means, shares});
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
         stepTable(steps) +
         "\nThe tables below are of all threads: *self* time is without, *total* with what an "
         "operator calls.\n\n";
}

}  // namespace

std::string profileGuide(const Trace& trace, const ProfilerOptions& options) {
  std::string text = stepsText(trace);
  if (options.logDir.empty() || !(options.chromeTrace || options.perfettoTrace || options.xplane)) {
    return text;
  }
  text += "To see when what happened:\n\n";
  if (options.chromeTrace || options.perfettoTrace) {
    text += "- **timeline**: open `" +
            (options.perfettoTrace ? perfettoTraceFileName(trace) : chromeTraceFileName(trace)) +
            "` of `" + options.logDir + "` at [ui.perfetto.dev](https://ui.perfetto.dev)";
    if (trace.worldSize > 1 && options.chromeTrace) {
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

}  // namespace steptape::detail::profile
