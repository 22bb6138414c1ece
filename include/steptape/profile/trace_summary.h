// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/log/summary_writer.h"
#include "steptape/profile/op_stats.h"
#include "steptape/profile/trace.h"

namespace steptape {

/// Selects which spans form one row of a table.
enum class OpGrouping : std::uint8_t {
  kName,    ///< Name and kind.
  kShape,   ///< Name, kind and shapes of the inputs.
  kModule,  ///< Module; operators and backward nodes only.
  kStack,   ///< Name and kind, and the zones and scopes around the span.
};

/// Sums the spans of a trace, as a Profiler does while it records. Includes spans of devices.
///
/// The self times of a thread add up to the time that its spans cover, however they overlap: each
/// moment belongs to the span that began last. OpProfile::covered counts time of the window only.
///
/// kModule: a span belongs to the module whose parameters it reads, or to that of the span around
/// it, also of PyTorch's spans "nn.Module: ..."; a backward node to that of its forward operator.
/// The row's name is the module, or "(no module)". Its calls are those from outside the module.
///
/// kStack: the row's name is the path of zones, scopes and the span itself, outermost first, joined
/// by ';', such as "step;forward;aten::mm". A backward node, and spans inside it, are in the zones
/// of its forward operator.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT OpProfile summarize(const Trace& trace, OpGrouping grouping = OpGrouping::kName);

/// Divides the time of a step into parts, on the thread that called Profiler::step(). Each moment
/// belongs to one part, that of the innermost open span that has one; of overlapping spans, the one
/// that began last is the innermost. The parts of spans by their names are in docs/profiling.md.
struct StepSummary {
  std::int64_t number = 0;
  std::int64_t total = 0;     ///< ns, like all members below.
  std::int64_t input = 0;     ///< SpanKind::kInput.
  std::int64_t forward = 0;   ///< Operators outside the other parts.
  std::int64_t backward = 0;  ///< Backward nodes and operators inside them.
  /// Zones whose name begins with "optimizer" or "Optimizer.step", and operators inside them.
  std::int64_t optimizer = 0;
  /// Collectives, excluding wait. In traces without SpanKind::kWait, also the time in which the
  /// thread runs no operator while another thread is in a collective, and in any trace the time in
  /// which it waits for a device that runs only collectives.
  std::int64_t transfer = 0;
  std::int64_t wait = 0;   ///< SpanKind::kWait.
  std::int64_t other = 0;  ///< The rest: outside operators, including zones.
};

/// One part of StepSummary.
struct StepSummaryPart {
  const char* name;
  std::int64_t StepSummary::*nanos;
};

/// The parts of a step, in the order of tables. They add up to StepSummary::total.
inline constexpr std::array<StepSummaryPart, 7> kStepSummaryParts{
    {{"input", &StepSummary::input},
     {"forward", &StepSummary::forward},
     {"backward", &StepSummary::backward},
     {"optimizer", &StepSummary::optimizer},
     {"transfer", &StepSummary::transfer},
     {"wait", &StepSummary::wait},
     {"other", &StepSummary::other}}};

/// Returns the time of a rank's own work in a step: all but collectives, which end for all ranks
/// together. The rank that delays the others has the largest value.
constexpr std::int64_t workOf(const StepSummary& step) {
  return step.total - step.transfer - step.wait;
}

/// Returns a summary of each step, ordered by time.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<StepSummary> summarizeSteps(const Trace& trace);

/// Memory that operators allocated and freed.
struct OpMemory {
  std::string name;  ///< The innermost open span; "(no operator)" if there was none.
  std::uint64_t allocations = 0;
  std::int64_t allocated = 0;  ///< Total bytes.
  std::int64_t freed = 0;
  std::int64_t atPeak = 0;  ///< Bytes in use at the peak.
};

struct MemorySummary {
  std::string device;         ///< See deviceName().
  std::int64_t peak = 0;      ///< Most bytes in use at any time, of those allocated in the window.
  std::int64_t peakTime = 0;  ///< In the time unit of the trace.
  std::vector<OpMemory> operators;  ///< Most bytes at the peak first, then most bytes allocated.
  /// Time, and bytes in use from then on; ordered by time.
  std::vector<std::pair<std::int64_t, std::int64_t>> inUse = {};
};

/// Returns a summary of each device whose memory was recorded, the CPU first.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<MemorySummary> summarizeMemory(const Trace& trace);

/// Work that an operator, zone or scope had a device do.
struct LaunchSummary {
  std::string name;         ///< The innermost span around the launch, or "(no operator)".
  std::uint64_t count = 0;  ///< Kernels, copies and fills.
  std::int64_t busy = 0;    ///< Sum of their durations in ns.
};

/// What one device did in a window.
struct DeviceSummary {
  int device = 0;
  std::int64_t window = 0;    ///< ns, like all members below.
  std::int64_t busy = 0;      ///< Time in which at least one stream did something.
  std::int64_t kernels = 0;   ///< Time in which a kernel ran, other than a collective.
  std::int64_t copies = 0;    ///< Time with copies and fills.
  std::int64_t transfer = 0;  ///< Time with kernels of collectives, whose names begin with "nccl".
  /// Part of `transfer` in which another kernel ran.
  std::int64_t overlap = 0;
  /// Operators by the work that they launched, most busy first. Empty if the trace has no launches.
  std::vector<LaunchSummary> launchers;
};

/// Returns a summary of each device that has spans, ordered by device. Work that runs beyond the
/// window counts up to its end.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<DeviceSummary> summarizeDevices(const Trace& trace);

/// Logs the contents of a trace other than the table of its operators:
///
///     profile/operators_by_shape    table, where shapes were recorded
///     profile/operators_by_module   table, where modules are known
///     profile/operators_by_stack    table, if ProfilerOptions::stacks was set
///     profile/memory                table of what operators allocated, where memory was recorded
///     profile/memory/cuda:0         the same of a device
///
/// With `options.detailScalars` also the scalars
///
///     profile/step_ms/total, input, forward, backward, optimizer, transfer, wait, other
///                                   a point for each step, at its number
///     profile/peak_memory_mb        at `step`, where memory was recorded
///     profile/peak_memory_mb/cuda:0 the same of a device
///
/// @threads Thread-safe.
STEPTAPE_EXPORT void writeTraceSummary(SummaryWriter& writer, const Trace& trace, std::int64_t step,
                                       const OpTableOptions& options = {});

}  // namespace steptape
