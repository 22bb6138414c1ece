// SPDX-License-Identifier: Apache-2.0
#include "tools/steptape/traces/profile_json.h"

#include <algorithm>
#include <vector>

#include "tools/steptape/tables/json_pieces.h"
#include "values/kinds/table_cells.h"

namespace steptape::tools {
namespace {

std::string stepJson(const StepSummary& step) {
  JsonObject json;
  json.add("step", jsonInteger(step.number));
  for (const StepSummaryPart& part : kStepSummaryParts) {
    json.add(std::string(part.name) + "_ms", jsonMilliseconds(step.*part.nanos));
  }
  return json.add("total_ms", jsonMilliseconds(step.total)).toString();
}

std::string operatorJson(const OpStats& op) {
  return JsonObject()
      .add("name", jsonString(op.name))
      .add("kind", jsonString(spanKindName(op.kind)))
      .add("shapes", jsonString(op.shapes))
      .add("calls", jsonInteger(op.calls))
      .add("self_ms", jsonMilliseconds(op.self.count()))
      .add("total_ms", jsonMilliseconds(op.total.count()))
      .add("flops", jsonNumber(op.flops))
      .add("bytes", jsonInteger(op.bytes))
      .toString();
}

std::string memoryJson(const MemorySummary& memory) {
  std::vector<std::string> operators;
  for (const OpMemory& op : memory.operators) {
    operators.push_back(JsonObject()
                            .add("name", jsonString(op.name))
                            .add("allocations", jsonInteger(op.allocations))
                            .add("allocated_bytes", jsonInteger(op.allocated))
                            .add("freed_bytes", jsonInteger(op.freed))
                            .add("bytes_at_peak", jsonInteger(op.atPeak))
                            .toString());
  }
  return JsonObject()
      .add("device", jsonString(memory.device))
      .add("peak_bytes", jsonInteger(memory.peak))
      .add("peak_ms", jsonMilliseconds(memory.peakTime))
      .add("operators", jsonArray(operators))
      .toString();
}

std::string deviceJson(const DeviceSummary& device) {
  std::vector<std::string> launchers;
  for (const LaunchSummary& launcher : device.launchers) {
    launchers.push_back(JsonObject()
                            .add("name", jsonString(launcher.name))
                            .add("count", jsonInteger(launcher.count))
                            .add("busy_ms", jsonMilliseconds(launcher.busy))
                            .toString());
  }
  return JsonObject()
      .add("device", jsonInteger(std::int64_t{device.device}))
      .add("window_ms", jsonMilliseconds(device.window))
      .add("busy_ms", jsonMilliseconds(device.busy))
      .add("kernels_ms", jsonMilliseconds(device.kernels))
      .add("copies_ms", jsonMilliseconds(device.copies))
      .add("transfer_ms", jsonMilliseconds(device.transfer))
      .add("overlap_ms", jsonMilliseconds(device.overlap))
      .add("launchers", jsonArray(launchers))
      .toString();
}

template <typename Op, typename Json>
std::string operatorsJson(std::vector<Op> operators, const OpTableView& view, Json json) {
  sortOperators(&operators, view.order);
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < std::min(operators.size(), view.rows); ++i) {
    rows.push_back(json(operators[i]));
  }
  return jsonArray(rows);
}

std::string traceJson(const std::string& file, const Trace& trace, const TraceProfile& profile,
                      const OpTableView& view) {
  std::vector<std::string> steps;
  for (const StepSummary& step : profile.steps) {
    steps.push_back(stepJson(step));
  }
  std::vector<std::string> memory;
  for (const MemorySummary& each : profile.memory) {
    memory.push_back(memoryJson(each));
  }
  std::vector<std::string> devices;
  for (const DeviceSummary& each : profile.devices) {
    devices.push_back(deviceJson(each));
  }
  return JsonObject()
      .add("file", jsonString(file))
      .add("host", jsonString(trace.hostName))
      .add("process", jsonInteger(trace.processId))
      .add("process_name", jsonString(trace.processName))
      .add("rank", jsonInteger(std::int64_t{trace.rank}))
      .add("world_size", jsonInteger(std::int64_t{trace.worldSize}))
      .add("start_unix_nanos", hasStart(trace) ? jsonInteger(trace.originNanos) : "null")
      .add("window_ms", jsonMilliseconds(profile.operators.wall.count()))
      .add("covered_ms", jsonMilliseconds(profile.operators.covered.count()))
      .add("spans", jsonInteger(profile.spans))
      .add("dropped_spans", jsonInteger(trace.dropped))
      .add("steps", jsonArray(steps))
      .add("operators", operatorsJson(profile.operators.operators, view, operatorJson))
      .add("memory", jsonArray(memory))
      .add("devices", jsonArray(devices))
      .toString();
}

std::string jobJson(const TraceSet& set, const JobProfile& job, const OpTableView& view) {
  const std::string operators = operatorsJson(job.operators, view, [&](const RankedOpStats& op) {
    return JsonObject()
        .add("name", jsonString(op.name))
        .add("kind", jsonString(spanKindName(op.kind)))
        .add("shapes", jsonString(op.shapes))
        .add("calls", jsonInteger(op.calls))
        .add("mean_self_ms", jsonMilliseconds(op.meanSelf.count()))
        .add("mean_total_ms", jsonMilliseconds(op.meanTotal.count()))
        .add("max_self_ms", jsonMilliseconds(op.maxSelf.count()))
        .add("max_rank", jsonInteger(std::int64_t{set.traces[op.maxTrace].rank}))
        .add("max_trace", jsonInteger(op.maxTrace))
        .toString();
  });
  JsonObject json;
  json.add("operators", operators);
  if (job.hasSteps) {
    const Trace& slowest = set.traces[job.slowest];
    json.add("slowest",
             JsonObject()
                 .add("trace", jsonInteger(job.slowest))
                 .add("rank", jsonInteger(std::int64_t{slowest.rank}))
                 .add("host", jsonString(slowest.hostName))
                 .add("work_ms", jsonMilliseconds(workOf(job.ranks[job.slowest].meanStep)))
                 .add("ratio_to_others", jsonNumber(job.slowness))
                 .toString());
  }
  return json.toString();
}

}  // namespace

std::string profileJson(const TraceSet& set, const JobProfile& job, const OpTableView& view) {
  std::vector<std::string> traces;
  for (std::size_t i = 0; i < set.traces.size(); ++i) {
    traces.push_back(traceJson(set.files[i], set.traces[i], job.ranks[i], view));
  }
  return JsonObject()
      .add("traces", jsonArray(traces))
      .add("ranks", set.traces.size() > 1 ? jobJson(set, job, view) : "null")
      .toString();
}

std::string jsonMilliseconds(std::int64_t nanos) {
  return jsonNumber(detail::values::milliseconds(nanos));
}

}  // namespace steptape::tools
