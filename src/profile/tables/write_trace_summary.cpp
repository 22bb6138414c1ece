// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "steptape/profile/trace_summary.h"

#include "profile/tables/span_stacks.h"
#include "values/kinds/table_cells.h"
#include "values/kinds/text.h"

namespace steptape {
namespace {

using detail::values::kBytesPerMegabyte;
using detail::values::megabytesText;

constexpr double kMillisecond = 1e6;  // in ns

std::string memoryTable(const MemorySummary& memory, std::int64_t maxRows) {
  std::vector<std::vector<std::string>> rows;
  for (const OpMemory& op : memory.operators) {
    if (rows.size() == static_cast<std::size_t>(maxRows)) {
      break;
    }
    rows.push_back({detail::values::codeSpan(op.name), std::to_string(op.allocations),
                    megabytesText(op.allocated), megabytesText(op.freed),
                    megabytesText(op.atPeak)});
  }
  return detail::values::markdownTable(
             {"operator", "allocations", "allocated MB", "freed MB", "MB at the peak"}, rows) +
         "\nAt most " + megabytesText(memory.peak) +
         " MB of what was allocated in the window were in use.\n";
}

void writeTables(SummaryWriter& writer, const Trace& trace, std::int64_t step,
                 const OpTableOptions& options) {
  bool hasShapes = false;
  bool hasModules = false;
  bool hasStacks = false;
  for (const SpanDetails& details : trace.details) {
    hasShapes = hasShapes || !details.shapes.empty();
    hasModules = hasModules || !details.module.empty();
    hasStacks =
        hasStacks || details.arguments.find(detail::profile::kCallStack) != std::string::npos;
  }
  if (hasShapes) {
    writer.addText("profile/operators_by_shape",
                   opTable(summarize(trace, OpGrouping::kShape), options), step);
  }
  if (hasModules) {
    writer.addText("profile/operators_by_module",
                   opTable(summarize(trace, OpGrouping::kModule), options), step);
  }
  if (hasStacks) {
    writer.addText("profile/operators_by_stack",
                   opTable(summarize(trace, OpGrouping::kStack), options), step);
  }
}

void writeSteps(SummaryWriter& writer, const Trace& trace) {
  for (const StepSummary& step : summarizeSteps(trace)) {
    const auto add = [&](const StepSummaryPart& part) {
      writer.addScalar(std::string("profile/step_ms/") + part.name,
                       static_cast<double>(step.*part.nanos) / kMillisecond, step.number);
    };
    add({"total", &StepSummary::total});
    for (const StepSummaryPart& part : kStepSummaryParts) {
      add(part);
    }
  }
}

}  // namespace

void writeTraceSummary(SummaryWriter& writer, const Trace& trace, std::int64_t step,
                       const OpTableOptions& options) {
  writeTables(writer, trace, step, options);
  if (options.detailScalars) {
    writeSteps(writer, trace);
  }
  for (const MemorySummary& memory : summarizeMemory(trace)) {
    const std::string device = memory.device == "cpu" ? "" : "/" + memory.device;
    writer.addText("profile/memory" + device, memoryTable(memory, options.maxRows), step);
    if (options.detailScalars) {
      writer.addScalar("profile/peak_memory_mb" + device,
                       static_cast<double>(memory.peak) / kBytesPerMegabyte, step);
    }
  }
}

}  // namespace steptape
