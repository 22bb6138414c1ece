// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/base/export.h"
#include "steptape/log/summary_writer.h"
#include "steptape/process/zone.h"
#include "steptape/profile/trace.h"

namespace steptape {

/// Total time of all spans of one name and kind.
struct OpStats {
  std::string name;
  SpanKind kind = SpanKind::kOperator;
  std::uint64_t calls = 0;
  /// Time in the spans themselves, without the spans directly inside them on the same thread; spans
  /// of devices contain none. The self times of a thread never exceed its wall time in total. 0 for
  /// spans that end on another thread than they began, such as asynchronous collectives.
  std::chrono::nanoseconds self{};
  /// Time from begin to end. A span inside another one of the same name and kind on its thread is
  /// excluded, so recursion counts no moment of a thread twice.
  std::chrono::nanoseconds total{};
  double flops = 0.0;       ///< Floating-point operations of all calls; 0: unknown.
  std::int64_t bytes = 0;   ///< Input bytes, or bytes moved by a collective, of all calls.
  std::string shapes = {};  ///< See SpanDetails::shapes; set for OpGrouping::kShape.
  std::string module = {};  ///< See SpanDetails::module; set for OpGrouping::kModule.
};

/// Result of one profiling window.
struct OpProfile {
  std::vector<OpStats> operators;   ///< Ordered by self time, largest first.
  std::chrono::nanoseconds wall{};  ///< Length of the window.
  /// The part of `wall` in which at least one thread was inside a recorded span.
  std::chrono::nanoseconds covered{};
  /// Number of lost spans: the ring of a thread was full, or spans nested more than 256 deep. If
  /// spans are lost, self times of operators open at that moment may include time of operators
  /// inside them.
  std::uint64_t dropped = 0;
  std::int64_t steps = 0;        ///< Training steps recorded completely.
  std::int64_t stepsPassed = 0;  ///< All training steps; see ProfilerOptions::maxOverhead.
  /// Cost of recording since the start, as a fraction of the time of the windows' steps; 0 if it
  /// was not measured.
  double overhead = 0.0;
};

/// Returns the mean time of one call of each operator, without backward functions, zones and
/// scopes. For GraphOptions::operatorTimes, which colors a graph by a profile.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::map<std::string, std::chrono::nanoseconds> operatorTimes(
    const OpProfile& profile);

/// Limits on what is written of a profile.
struct OpTableOptions {
  std::int64_t maxRows = 50;     ///< Operators in the table, largest self time first.
  std::int64_t maxScalars = 10;  ///< Operators logged as a scalar with `detailScalars`.
  /// Also logs what is in the tables as scalars.
  bool detailScalars = false;
};

/// Formats a profile as a Markdown table, followed by a line with the covered part of the window
/// and the numbers of omitted operators and lost spans:
///
///     | # | operator | kind | calls | self ms | self % | total ms | mean µs |
///     | --- | --- | --- | --- | --- | --- | --- | --- |
///     | 1 | `aten::mm` | operator | 7 | 1.234 | 61.7 | 1.250 | 178.571 |
///
///     Window of 2.500 ms, 81.3 % of it inside recorded spans.
///
/// Further columns, if known: shapes, GFLOP/s of the total time, and MB of inputs.
///
/// @units  "self %" is relative to the self time of all operators and threads; "mean" is total /
///         calls.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string opTable(const OpProfile& profile, const OpTableOptions& options = {});

/// Formats a profile for a terminal: aligned columns, names cut at 60 characters.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT std::string opTableForConsole(const OpProfile& profile,
                                              const OpTableOptions& options = {});

/// Logs a profile: the table as the text `profile/operators`.
///
/// With `options.detailScalars` also logs the self time of the slowest operators in milliseconds as
/// the scalars `profile/self_ms/<operator>`, and the cost of recording, if measured, as the scalar
/// `profile/overhead`, a fraction. If two operators differ in kind only, the tag of the later one
/// ends in its kind, such as `profile/self_ms/step (zone)`.
///
/// @threads Thread-safe.
STEPTAPE_EXPORT void writeOpStats(SummaryWriter& writer, const OpProfile& profile,
                                  std::int64_t step, const OpTableOptions& options = {});

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

/// Time of all spans of one name and kind on all ranks of a job.
struct RankedOpStats {
  std::string name;
  SpanKind kind = SpanKind::kOperator;
  std::string shapes;       ///< As OpStats::shapes.
  std::string module;       ///< As OpStats::module.
  std::uint64_t calls = 0;  ///< On all ranks together.
  /// Mean over all ranks; a rank without such spans counts as 0. See OpStats::self.
  std::chrono::nanoseconds meanSelf{};
  std::chrono::nanoseconds meanTotal{};  ///< Mean over all ranks of OpStats::total.
  std::chrono::nanoseconds maxSelf{};
  std::size_t maxTrace = 0;  ///< First trace or rank that has maxSelf.
};

/// Sums the spans of each trace as summarize() does, and combines the sums over the traces.
///
/// @param traces   Traces of the ranks of one job, in any order.
/// @param grouping What makes two spans one row.
/// @return ordered by mean self time, largest first; empty if there are no traces.
/// @threads Thread-safe.
STEPTAPE_EXPORT std::vector<RankedOpStats> summarizeRanks(ArrayView<const Trace> traces,
                                                          OpGrouping grouping = OpGrouping::kName);

/// Result of a profiling window on one rank, small enough to send to another.
struct RankProfile {
  std::string nodeName;
  OpProfile profile;
  std::vector<StepSummary> steps;  ///< As returned by summarizeSteps(); empty if no trace was made.
};

/// Like summarizeRanks(), for results that are already summed.
///
/// @param ranks All ranks of the job, by rank.
STEPTAPE_EXPORT std::vector<RankedOpStats> summarizeRankProfiles(
    ArrayView<const RankProfile> ranks);

/// Logs the profile of all ranks of a job:
///
///     profile/operators_by_rank     table: mean self time over the ranks, the largest one and
///                                   its rank
///     profile/straggler/parts       table: mean and maximum over the ranks, in milliseconds per
///                                   step, and the slowest rank, for each part of a step in
///                                   StepSummary, "total" and "work", which is workOf()
///     profile/straggler/report      text, if the slowest rank works more than 1.2 times as long as
///                                   the median rank: the rank, its host, and the part in which it
///                                   exceeds the median most
///
/// With `options.detailScalars` also scalars, a point for each step:
///
///     profile/straggler/<part>/mean_ms, max_ms
///     profile/straggler/<part>/slowest_rank
///                                   the same for the parts of work, unless a part took no time
///     profile/straggler/slowest_rank
///     profile/straggler/slowdown    work of the slowest rank / work of the median rank
///
/// StragglerReport writes the same from its own clocks; these values cover the steps that every
/// rank profiled. In a job whose ranks wait for each other, the slowest rank works longest and
/// waits least.
///
/// @param writer  Receives the values.
/// @param ranks   All ranks of the job, by rank; at least one.
/// @param step    Step of the tables and the text; scalars are at the steps that they describe.
/// @param options See OpTableOptions.
/// @threads Thread-safe.
STEPTAPE_EXPORT void writeRankSummary(SummaryWriter& writer, ArrayView<const RankProfile> ranks,
                                      std::int64_t step, const OpTableOptions& options = {});

/// Converts traces to folded stacks for flamegraph.pl and speedscope. Each line is a call path with
/// the microseconds spent in its last span itself:
///
///     step;forward;aten::linear;aten::addmm 7500
///     step;forward;aten::linear;AddmmBackward0;aten::mm 8697
///
/// A backward node is below its forward operator. The threads of a process are added; for several
/// processes the first frame is the rank. Paths of less than half a microsecond are omitted, and
/// ';' in names becomes ','.
///
/// @param processes In any order.
/// @return lines ordered by path; empty if there are no spans.
/// @threads Thread-safe.
/// @source https://github.com/brendangregg/FlameGraph, stackcollapse.
STEPTAPE_EXPORT std::string foldedStacks(ArrayView<const Trace> processes);

}  // namespace steptape
