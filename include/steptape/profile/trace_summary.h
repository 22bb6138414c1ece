// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/profile/op_stats.h"
#include "steptape/trace/trace.h"
#include "steptape/writer/summary_writer.h"

namespace steptape {

/// What makes two spans one row of a table.
enum class OpGrouping : std::uint8_t {
  kName,    ///< Name and kind.
  kShape,   ///< Name, kind and shapes of the inputs.
  kModule,  ///< The module, of operators and backward nodes; the others have no row.
  kStack,   ///< Name and kind, and the zones and scopes around it.
};

/// Adds up the spans of a trace, as a Profiler does while it records them. Spans of devices count
/// too.
///
/// For kModule a span belongs to the module whose parameters it reads, else to that of the span
/// around it; a backward node to that of its forward operator. A row's name is the module, "(no
/// module)" for the rest; its calls are those that came from outside of the module.
///
/// For kStack a row's name is the path to the span, outermost first and joined by ';', such as
/// "step;forward;aten::mm": zones, scopes and the span itself. A backward node, and what is in it,
/// lies in the zones of its forward operator.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT OpProfile summarize(const Trace& trace, OpGrouping grouping = OpGrouping::kName);

/// Where the time of a step went, on the thread that called Profiler::step(). What is inside of
/// another part counts once, for the innermost.
struct StepSummary {
  std::int64_t number = 0;
  std::int64_t total = 0;     ///< ns, as all of these.
  std::int64_t input = 0;     ///< SpanKind::kInput.
  std::int64_t forward = 0;   ///< Operators in none of the other parts.
  std::int64_t backward = 0;  ///< Backward nodes and the operators in them.
  /// Zones whose name begins with "optimizer" or "Optimizer.step", and operators in them.
  std::int64_t optimizer = 0;
  std::int64_t transfer = 0;  ///< Collectives, without:
  std::int64_t wait = 0;      ///< SpanKind::kWait.
  std::int64_t other = 0;     ///< The rest: in no operator, zones included.
};

/// A part of a step.
struct StepSummaryPart {
  const char* name;
  std::int64_t StepSummary::*nanos;
};

/// What a step is made of, in the order of tables. They add up to StepSummary::total.
inline constexpr std::array<StepSummaryPart, 7> kStepSummaryParts{
    {{"input", &StepSummary::input},
     {"forward", &StepSummary::forward},
     {"backward", &StepSummary::backward},
     {"optimizer", &StepSummary::optimizer},
     {"transfer", &StepSummary::transfer},
     {"wait", &StepSummary::wait},
     {"other", &StepSummary::other}}};

/// What a rank did itself in a step: all but collectives, which end for all ranks together. A rank
/// that others wait for has the most of it.
constexpr std::int64_t workOf(const StepSummary& step) {
  return step.total - step.transfer - step.wait;
}

/// @return a summary for each step, by time.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<StepSummary> summarizeSteps(const Trace& trace);

/// What operators did with memory.
struct OpMemory {
  std::string name;  ///< The innermost span that was open; "(no operator)" where none was.
  std::uint64_t allocations = 0;
  std::int64_t allocated = 0;  ///< Bytes in all.
  std::int64_t freed = 0;
  std::int64_t atPeak = 0;  ///< Of the bytes that were in use at the peak.
};

struct MemorySummary {
  std::string device;               ///< See deviceName().
  std::int64_t peak = 0;            ///< Bytes in use, at most, of what was allocated in the window.
  std::int64_t peakTime = 0;        ///< As all times of a trace.
  std::vector<OpMemory> operators;  ///< The most bytes at the peak first, then in all.
  /// Time, and bytes in use from then on, by time.
  std::vector<std::pair<std::int64_t, std::int64_t>> inUse = {};
};

/// @return a summary for each device whose memory was recorded, the CPU first.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<MemorySummary> summarizeMemory(const Trace& trace);

/// Logs what is known of a trace beyond the table of its operators:
///
///     profile/operators_by_shape    table, where shapes were recorded
///     profile/operators_by_module   table, where modules are known
///     profile/operators_by_stack    table, where ProfilerOptions::stacks noted them
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
