// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "steptape/profile/profile_figures.h"
#include "steptape/profile/trace_summary.h"

#include "profile/figures/picture_size.h"
#include "values/kinds/table_cells.h"

namespace steptape {
namespace {

/// Milliseconds and megabytes.
struct Curve {
  std::vector<double> x;
  std::vector<double> y;

  void add(std::int64_t time, std::int64_t bytes) {
    x.push_back(detail::values::milliseconds(time));
    y.push_back(static_cast<double>(bytes) / detail::values::kBytesPerMegabyte);
  }
};

/// Returns a step function: memory changes instantly and then stays constant.
Curve stairs(const MemorySummary& memory, std::int64_t duration) {
  Curve curve;
  std::int64_t inUse = 0;
  curve.add(0, inUse);
  for (const auto& [time, bytes] : memory.inUse) {
    curve.add(time, inUse);
    curve.add(time, bytes);
    inUse = bytes;
  }
  curve.add(std::max(duration, memory.inUse.empty() ? 0 : memory.inUse.back().first), inUse);
  return curve;
}

void markSteps(const Trace& trace, Figure* figure) {
  constexpr std::size_t kMost = 40;
  RuleOptions rule;
  rule.style = ":";
  rule.width = 0.8;
  const std::size_t every = (trace.steps.size() + kMost - 1) / kMost;
  for (std::size_t i = 0; i < trace.steps.size(); i += every) {
    rule.label = i > 0 ? "" : every == 1 ? "step begins" : std::to_string(every) + " steps begin";
    figure->verticalLine(detail::values::milliseconds(trace.steps[i].start), rule);
  }
}

void addDevice(const MemorySummary& memory, std::int64_t duration, Figure* figure) {
  const Curve curve = stairs(memory, duration);
  LineOptions line;
  line.label = memory.device;
  figure->line(curve.x, curve.y, line);
  figure->fillBetween(curve.x, std::vector<double>(curve.x.size(), 0.0), curve.y);
  ScatterOptions marker;
  marker.label = "peak " + detail::values::megabytesText(memory.peak) + " MB";
  marker.color = "black";
  marker.size = 6;
  Curve peak;
  peak.add(memory.peakTime, memory.peak);
  figure->scatter(peak.x, peak.y, marker);
}

}  // namespace

Figure memoryCurve(const Trace& trace) {
  Figure figure(detail::profile::canvasOfHeight(440, "Memory in use"));
  markSteps(trace, &figure);
  for (const MemorySummary& memory : summarizeMemory(trace)) {
    addDevice(memory, trace.duration, &figure);
  }
  figure.setLegend(LegendPlace::kBeside);  // the curve leaves no corner free
  figure.setXLabel("time (ms)").setYLabel("allocated in the window (MB)");
  return figure;
}

}  // namespace steptape
