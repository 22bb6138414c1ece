// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "steptape/profile/trace_summary.h"
#include "steptape/summary/text.h"

namespace steptape {
namespace {

constexpr double kMillisecond = 1e6;  // ns
constexpr double kMegabyte = 1e6;

std::string megabytes(std::int64_t bytes) {
  // Of integers, so that no locale changes the point.
  const std::int64_t hundredths = std::llround(static_cast<double>(bytes) / kMegabyte * 100.0);
  const std::string fraction = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + (fraction.size() < 2 ? ".0" : ".") + fraction;
}

std::string memoryTable(const MemorySummary& memory, std::size_t maxRows) {
  std::vector<std::vector<std::string>> rows;
  for (const OpMemory& op : memory.operators) {
    if (rows.size() == maxRows) {
      break;
    }
    rows.push_back({"`" + op.name + "`", std::to_string(op.allocations), megabytes(op.allocated),
                    megabytes(op.freed), megabytes(op.atPeak)});
  }
  return markdownTable({"operator", "allocations", "allocated MB", "freed MB", "MB at the peak"},
                       rows) +
         "\nAt most " + megabytes(memory.peak) +
         " MB of what was allocated in the window were in use.\n";
}

void writeTables(SummaryWriter& writer, const Trace& trace, std::int64_t step,
                 const OpTableOptions& options) {
  bool hasShapes = false;
  bool hasModules = false;
  for (const SpanDetails& details : trace.details) {
    hasShapes = hasShapes || !details.shapes.empty();
    hasModules = hasModules || !details.module.empty();
  }
  if (hasShapes) {
    writer.addText("profile/operators_by_shape",
                   opTable(summarize(trace, OpGrouping::kShape), options), step);
  }
  if (hasModules) {
    writer.addText("profile/operators_by_module",
                   opTable(summarize(trace, OpGrouping::kModule), options), step);
  }
}

void writeSteps(SummaryWriter& writer, const Trace& trace) {
  for (const StepSummary& step : summarizeSteps(trace)) {
    const std::pair<const char*, std::int64_t> parts[] = {
        {"total", step.total},       {"input", step.input},         {"forward", step.forward},
        {"backward", step.backward}, {"optimizer", step.optimizer}, {"transfer", step.transfer},
        {"wait", step.wait},         {"other", step.other}};
    for (const auto& [name, nanos] : parts) {
      writer.addScalar(std::string("profile/step_ms/") + name,
                       static_cast<double>(nanos) / kMillisecond, step.number);
    }
  }
}

}  // namespace

void writeTraceSummary(SummaryWriter& writer, const Trace& trace, std::int64_t step,
                       const OpTableOptions& options) {
  writeTables(writer, trace, step, options);
  writeSteps(writer, trace);
  if (!trace.memory.empty()) {
    const MemorySummary memory = summarizeMemory(trace);
    writer.addText("profile/memory", memoryTable(memory, options.maxRows), step);
    writer.addScalar("profile/peak_memory_mb", static_cast<double>(memory.peak) / kMegabyte, step);
  }
}

}  // namespace steptape
