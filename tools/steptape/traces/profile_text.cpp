// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/traces/profile_text.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <set>
#include <utility>
#include <vector>

#include "tools/steptape/tables/human_text.h"
#include "tools/steptape/tables/row_table.h"
#include "tools/steptape/terminal/screen_text.h"

namespace steptape::tools {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kMemoryRows = 10;
constexpr std::size_t kDeviceRows = 10;

/// Returns a percentage; "-" if the whole is 0.
template <typename Number>
std::string shareText(Number part, Number whole) {
  return whole > 0 ? detail::values::percentText(part, whole) : "-";
}

std::string indented(const std::string& text) {
  return fmt::format("{:{}}{}\n", "", kProfileIndent, text);
}

std::string emphasized(const std::string& text, const char* code, const Terminal& terminal) {
  return terminal.hasColor ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
}

std::string titleLine(const std::string& text, const Terminal& terminal) {
  return emphasized(cut(text, terminal.columns, terminal), "1", terminal) + '\n';
}

/// Returns a warning, because the numbers below are wrong.
std::string droppedLines(const std::string& whose, std::uint64_t dropped,
                         const Terminal& terminal) {
  if (dropped == 0) {
    return "";
  }
  std::string lines = factLines({fmt::format("WARNING: {}{} lost", whose, counted(dropped, "span")),
                                 "so self times may be too long"},
                                kProfileIndent, terminal);
  lines.pop_back();  // the newline
  return emphasized(lines, "1;31", terminal) + '\n';
}

std::string stepsText(const std::vector<StepSummary>& steps) {
  if (steps.empty()) {
    return "no steps";
  }
  const std::string first = fmt::to_string(steps.front().number);
  return fmt::format(
      "{}: {}", counted(steps.size(), "step"),
      steps.size() == 1 ? first : fmt::format("{} to {}", first, steps.back().number));
}

std::string windowLines(const Trace& trace, const TraceProfile& profile, const Terminal& terminal) {
  const OpProfile& operators = profile.operators;
  std::size_t streams = 0;
  for (const TraceThread& thread : trace.threads) {
    streams += thread.device >= 0 ? 1 : 0;
  }
  std::vector<std::string> facts{
      hasStart(trace) ? humanTime(static_cast<double>(trace.originNanos) * 1e-9) : "start unknown",
      stepsText(profile.steps), fmt::format("{} ms", millisecondsText(operators.wall.count())),
      fmt::format("{} % of it in spans",
                  shareText(operators.covered.count(), operators.wall.count())),
      fmt::format("{} on {}", counted(profile.spans, "span"),
                  counted(trace.threads.size() - streams, "thread"))};
  if (streams > 0) {
    facts.push_back(fmt::format("{} of devices", counted(streams, "stream")));
  }
  return factLines(facts, kProfileIndent, terminal);
}

std::string stepTable(const TraceProfile& profile, const Terminal& terminal) {
  if (profile.steps.empty()) {
    return "";
  }
  std::vector<StepSummaryPart> parts(kStepSummaryParts.begin(), kStepSummaryParts.end());
  parts.push_back({"total", &StepSummary::total});
  const auto extreme = [&](const StepSummaryPart& part, bool isMost) {
    const auto [least, most] = std::minmax_element(
        profile.steps.begin(), profile.steps.end(),
        [&](const StepSummary& a, const StepSummary& b) { return a.*part.nanos < b.*part.nanos; });
    return millisecondsText((isMost ? *most : *least).*part.nanos);
  };
  return tableBelow(
      {wordColumn("a step's", parts, terminal,
                  [](const StepSummaryPart& part) { return part.name; }),
       numberColumn("mean ms", parts,
                    [&](const StepSummaryPart& part) {
                      return millisecondsText(profile.meanStep.*part.nanos);
                    }),
       numberColumn("%", parts,
                    [&](const StepSummaryPart& part) {
                      return shareText(profile.meanStep.*part.nanos, profile.meanStep.total);
                    }),
       numberColumn("min ms", parts,
                    [&](const StepSummaryPart& part) { return extreme(part, false); }),
       numberColumn("max ms", parts,
                    [&](const StepSummaryPart& part) { return extreme(part, true); })},
      {"min ms", "max ms", "%"}, kProfileIndent, terminal);
}

/// The first rows of a table in the order of the view, and the number of all rows.
template <typename Op>
struct ShownRows {
  std::vector<Op> rows;
  std::size_t all;
};

template <typename Op>
ShownRows<Op> shownRows(std::vector<Op> operators, const OpTableView& view) {
  const std::size_t all = operators.size();
  sortOperators(&operators, view.order);
  operators.resize(std::min(all, view.rows));
  return {std::move(operators), all};
}

template <typename Op>
std::vector<TableColumn> nameColumns(const std::vector<Op>& rows, const OpTableView& view,
                                     const Terminal& terminal) {
  std::vector<TableColumn> columns{
      wordColumn(operatorTitle(view.grouping), rows, terminal,
                 [](const Op& op) { return operatorText(op.name, op.shapes); })};
  if (view.grouping != OpGrouping::kModule) {
    columns.push_back(
        wordColumn("kind", rows, terminal, [](const Op& op) { return spanKindName(op.kind); }));
  }
  columns.push_back(
      numberColumn("calls", rows, [](const Op& op) { return fmt::to_string(op.calls); }));
  return columns;
}

std::string operatorTable(const OpProfile& profile, const OpTableView& view,
                          const Terminal& terminal) {
  const auto [rows, all] = shownRows(profile.operators, view);
  nanoseconds allSelf{};
  double allFlops = 0;
  std::int64_t allBytes = 0;
  for (const OpStats& op : profile.operators) {
    allSelf += op.self;
    allFlops += op.flops;
    allBytes += op.bytes;
  }
  std::vector<TableColumn> columns = nameColumns(rows, view, terminal);
  columns.push_back(numberColumn(
      "self ms", rows, [](const OpStats& op) { return millisecondsText(op.self.count()); }));
  columns.push_back(numberColumn("self %", rows, [allSelf = allSelf](const OpStats& op) {
    return shareText(op.self.count(), allSelf.count());
  }));
  columns.push_back(numberColumn(
      "total ms", rows, [](const OpStats& op) { return millisecondsText(op.total.count()); }));
  columns.push_back(numberColumn("mean us", rows, [](const OpStats& op) {
    const auto calls = static_cast<double>(std::max<std::uint64_t>(op.calls, 1));
    return fmt::format("{:.3f}", static_cast<double>(op.total.count()) * 1e-3 / calls);
  }));
  if (allFlops > 0) {
    // Operations per nanosecond are 10^9 per second.
    columns.push_back(numberColumn("GFLOP/s", rows, [](const OpStats& op) {
      return op.flops > 0 && op.total.count() > 0
                 ? fmt::format("{:.1f}", op.flops / static_cast<double>(op.total.count()))
                 : "";
    }));
  }
  if (allBytes > 0) {
    columns.push_back(numberColumn("MB", rows, [](const OpStats& op) {
      return op.bytes > 0 ? fmt::format("{:.1f}", static_cast<double>(op.bytes) * 1e-6) : "";
    }));
  }
  return tableBelow(std::move(columns), {"mean us", "MB", "kind", "GFLOP/s", "total ms", "calls"},
                    kProfileIndent, terminal) +
         leftOutLine(rows.size(), all);
}

std::string bytesText(std::int64_t bytes) {
  return (bytes < 0 ? "-" : "") + humanBytes(static_cast<std::uint64_t>(std::abs(bytes)));
}

std::string memoryTable(const MemorySummary& memory, const Terminal& terminal) {
  std::vector<OpMemory> rows = memory.operators;
  const std::size_t all = rows.size();
  rows.resize(std::min(all, kMemoryRows));
  const std::string head =
      factLines({fmt::format("{} memory: at most {}", memory.device, bytesText(memory.peak)),
                 "of what was allocated in the window",
                 fmt::format("at {} ms", millisecondsText(memory.peakTime))},
                kProfileIndent, terminal);
  return '\n' + head +
         tableBelow(
             {wordColumn("operator", rows, terminal, [](const OpMemory& op) { return op.name; }),
              numberColumn("at peak", rows,
                           [](const OpMemory& op) { return bytesText(op.atPeak); }),
              numberColumn("allocated", rows,
                           [](const OpMemory& op) { return bytesText(op.allocated); }),
              numberColumn("freed", rows, [](const OpMemory& op) { return bytesText(op.freed); }),
              numberColumn("calls", rows,
                           [](const OpMemory& op) { return fmt::to_string(op.allocations); })},
             {"calls", "freed", "allocated"}, kProfileIndent, terminal) +
         (rows.size() < all ? indented(fmt::format("and {} more", all - rows.size())) : "");
}

std::string deviceTable(const DeviceSummary& device, const Terminal& terminal) {
  const auto share = [&](std::int64_t part) { return shareText(part, device.window); };
  std::vector<std::string> facts{fmt::format("device {}: idle {} % of the window", device.device,
                                             share(device.window - device.busy)),
                                 fmt::format("kernels {} %", share(device.kernels)),
                                 fmt::format("copies {} %", share(device.copies))};
  if (device.transfer > 0) {
    facts.push_back(fmt::format("collectives {} %, of it {} % during kernels",
                                share(device.transfer),
                                shareText(device.overlap, device.transfer)));
  }
  std::string head = '\n' + factLines(facts, kProfileIndent, terminal);
  std::vector<LaunchSummary> rows = device.launchers;
  const std::size_t all = rows.size();
  if (all == 0) {
    return head;
  }
  rows.resize(std::min(all, kDeviceRows));
  return head +
         tableBelow(
             {wordColumn("launched by", rows, terminal,
                         [](const LaunchSummary& launcher) { return launcher.name; }),
              numberColumn(
                  "launches", rows,
                  [](const LaunchSummary& launcher) { return fmt::to_string(launcher.count); }),
              numberColumn(
                  "device ms", rows,
                  [](const LaunchSummary& launcher) { return millisecondsText(launcher.busy); }),
              numberColumn("% of window", rows,
                           [&](const LaunchSummary& launcher) { return share(launcher.busy); })},
             {"launches", "% of window"}, kProfileIndent, terminal) +
         (rows.size() < all ? indented(fmt::format("and {} more", all - rows.size())) : "");
}

/// Returns a column with a part of each rank's mean step; "-" without steps.
template <typename Nanos>
TableColumn stepColumn(const char* title, const std::vector<TraceProfile>& ranks, Nanos nanos) {
  return numberColumn(title, ranks, [&](const TraceProfile& rank) {
    return rank.steps.empty() ? "-" : millisecondsText(nanos(rank.meanStep));
  });
}

/// Returns a column for each device whose memory any rank used.
std::vector<TableColumn> peakColumns(const std::vector<TraceProfile>& ranks) {
  std::set<std::string> devices;
  for (const TraceProfile& rank : ranks) {
    for (const MemorySummary& memory : rank.memory) {
      devices.insert(memory.device);
    }
  }
  std::vector<TableColumn> columns;
  for (const std::string& device : devices) {
    const std::string title = device + " peak";
    columns.push_back(numberColumn(title.c_str(), ranks, [&](const TraceProfile& rank) {
      for (const MemorySummary& memory : rank.memory) {
        if (memory.device == device) {
          return bytesText(memory.peak);
        }
      }
      return std::string("-");
    }));
  }
  return columns;
}

std::string rankTable(const TraceSet& set, const JobProfile& job, const Terminal& terminal) {
  std::vector<TableColumn> columns{
      wordColumn("process", set.longLabels(), terminal, [](const std::string& s) { return s; }),
      numberColumn(
          "window ms", job.ranks,
          [](const TraceProfile& rank) { return millisecondsText(rank.operators.wall.count()); }),
      numberColumn("steps", job.ranks,
                   [](const TraceProfile& rank) { return fmt::to_string(rank.steps.size()); }),
      stepColumn("step ms", job.ranks, [](const StepSummary& step) { return step.total; }),
      stepColumn("work ms", job.ranks, workOf),
      stepColumn("wait ms", job.ranks, [](const StepSummary& step) { return step.wait; })};
  std::vector<std::string> dispensable{"window ms", "steps"};
  for (TableColumn& column : peakColumns(job.ranks)) {
    dispensable.push_back(column.title);
    columns.push_back(std::move(column));
  }
  dispensable.insert(dispensable.end(), {"step ms", "wait ms"});
  return tableBelow(std::move(columns), dispensable, kProfileIndent, terminal);
}

std::string slowestLine(const TraceSet& set, const JobProfile& job, const Terminal& terminal) {
  if (!job.hasSteps) {
    return "";
  }
  const Trace& trace = set.traces[job.slowest];
  const std::string host = trace.hostName.empty() ? "" : " on " + shown(trace.hostName, terminal);
  const std::int64_t work = workOf(job.ranks[job.slowest].meanStep);
  return '\n' + factLines({fmt::format("slowest: {}{}", set.labels()[job.slowest], host),
                           fmt::format("{} ms of work a step", millisecondsText(work)),
                           fmt::format("{:.2f} times the others' mean", job.slowness)},
                          kProfileIndent, terminal);
}

/// The mean over the ranks, the maximum, and its rank.
struct RankedPart {
  const char* name;
  std::int64_t mean = 0;
  std::int64_t max = INT64_MIN;
  std::size_t slowest = 0;
};

RankedPart rankedPartOf(const StepSummaryPart& part, const JobProfile& job) {
  RankedPart ranked{part.name};
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const std::int64_t nanos = job.ranks[i].meanStep.*part.nanos;
    ranked.mean += nanos;
    if (nanos > ranked.max) {
      ranked.max = nanos;
      ranked.slowest = i;
    }
  }
  ranked.mean /= static_cast<std::int64_t>(job.ranks.size());
  return ranked;
}

std::string rankedStepTable(const TraceSet& set, const JobProfile& job, const Terminal& terminal) {
  if (!job.hasSteps) {
    return "";
  }
  std::vector<RankedPart> parts;
  parts.reserve(kStepSummaryParts.size() + 1);
  for (const StepSummaryPart& part : kStepSummaryParts) {
    parts.push_back(rankedPartOf(part, job));
  }
  parts.push_back(rankedPartOf({"total", &StepSummary::total}, job));
  const std::vector<std::string> labels = set.labels();
  return tableBelow(
      {wordColumn("a step's", parts, terminal, [](const RankedPart& part) { return part.name; }),
       numberColumn("mean ms", parts,
                    [](const RankedPart& part) { return millisecondsText(part.mean); }),
       numberColumn(
           "%", parts,
           [&](const RankedPart& part) { return shareText(part.mean, parts.back().mean); }),
       numberColumn("max ms", parts,
                    [](const RankedPart& part) { return millisecondsText(part.max); }),
       wordColumn("of", parts, terminal,
                  [&](const RankedPart& part) {
                    return part.max > part.mean ? labels[part.slowest] : std::string();
                  })},
      {"%"}, kProfileIndent, terminal);
}

std::string rankedOperatorTable(const TraceSet& set, const JobProfile& job, const OpTableView& view,
                                const Terminal& terminal) {
  const auto [rows, all] = shownRows(job.operators, view);
  nanoseconds allSelf{};
  for (const RankedOpStats& op : job.operators) {
    allSelf += op.meanSelf;
  }
  const std::vector<std::string> labels = set.labels();
  std::vector<TableColumn> columns = nameColumns(rows, view, terminal);
  columns.push_back(numberColumn("mean self ms", rows, [](const RankedOpStats& op) {
    return millisecondsText(op.meanSelf.count());
  }));
  columns.push_back(numberColumn("self %", rows, [allSelf = allSelf](const RankedOpStats& op) {
    return shareText(op.meanSelf.count(), allSelf.count());
  }));
  columns.push_back(numberColumn("max self ms", rows, [](const RankedOpStats& op) {
    return millisecondsText(op.maxSelf.count());
  }));
  columns.push_back(wordColumn("of", rows, terminal, [&](const RankedOpStats& op) {
    return op.maxSelf > op.meanSelf ? labels[op.maxTrace] : std::string();
  }));
  columns.push_back(wordColumn("host", rows, terminal, [&](const RankedOpStats& op) {
    return op.maxSelf > op.meanSelf ? set.traces[op.maxTrace].hostName : std::string();
  }));
  return tableBelow(std::move(columns), {"host", "self %", "kind", "calls", "mean self ms"},
                    kProfileIndent, terminal) +
         leftOutLine(rows.size(), all);
}

}  // namespace

std::string profileText(const TraceSet& set, const TraceProfile& profile, const OpTableView& view,
                        const Terminal& terminal) {
  const Trace& trace = set.traces.front();
  std::string text = titleLine(set.files.front(), terminal);
  text += indented(cut(set.longLabels().front(), terminal.columns - kProfileIndent, terminal));
  text += windowLines(trace, profile, terminal);
  text += droppedLines("", trace.dropped, terminal);
  text += stepTable(profile, terminal);
  text += operatorTable(profile.operators, view, terminal);
  for (const DeviceSummary& device : profile.devices) {
    text += deviceTable(device, terminal);
  }
  for (const MemorySummary& memory : profile.memory) {
    text += memoryTable(memory, terminal);
  }
  return text;
}

std::string jobProfileText(const TraceSet& set, const JobProfile& job, const OpTableView& view,
                           const Terminal& terminal) {
  std::string text = titleLine(fmt::format("{} processes", set.traces.size()), terminal);
  const std::vector<std::string> labels = set.labels();
  for (std::size_t i = 0; i < set.traces.size(); ++i) {
    text += droppedLines(labels[i] + ": ", set.traces[i].dropped, terminal);
  }
  text += rankTable(set, job, terminal);
  text += slowestLine(set, job, terminal);
  text += rankedStepTable(set, job, terminal);
  text += rankedOperatorTable(set, job, view, terminal);
  return text;
}

std::string operatorText(const std::string& name, const std::string& shapes) {
  return shapes.empty() ? name : name + ' ' + shapes;
}

const char* operatorTitle(OpGrouping grouping) {
  switch (grouping) {
    case OpGrouping::kModule:
      return "module";
    case OpGrouping::kStack:
      return "stack";
    default:
      return "operator";
  }
}

std::string leftOutLine(std::size_t count, std::size_t all) {
  return count < all ? indented(fmt::format("and {} more: --top", all - count)) : "";
}

}  // namespace steptape::tools
