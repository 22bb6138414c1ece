// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/process/zone.h"

namespace steptape {

// A trace in memory: what one process did in a window of time. The profiler makes traces from the
// records of a window; readers make them from files. Each file format is written from a trace, so
// every format can be converted to every other.
//
// All times are nanoseconds since Trace::originNanos.

/// Name of spans.
struct TraceName {
  std::string text;
  SpanKind kind = SpanKind::kZone;
  /// Category in the file from which the trace was read, such as "cuda_runtime"; empty: that of its
  /// kind.
  std::string category = {};
  std::uint32_t color = 0;  ///< 0xRRGGBB; 0: none.
};

struct TraceSpan {
  std::int64_t start = 0;
  std::int64_t duration = 0;        ///< At least 0.
  std::int64_t sequence = -1;       ///< See SpanRecord::sequence().
  double value = 0.0;               ///< The user's value, if `flags` has kHasValue.
  std::uint32_t name = 0;           ///< Index into Trace::names.
  std::uint32_t details = 0;        ///< Index into Trace::details.
  std::uint16_t forwardThread = 0;  ///< See SpanRecord::forwardThread.
  std::uint8_t flags = 0;           ///< Bits of SpanFlag.
  std::uint32_t correlation = 0;    ///< See SpanRecord::correlation().
};

struct TraceThread {
  std::uint64_t id = 0;  ///< The operating system's thread id; for a device, the id of its stream.
  std::string name;      ///< For display; may be empty.
  int device = -1;       ///< The device whose stream this is; -1: a thread of the host.
  /// Ordered by start; of equal starts, the longer span first. Spans without kDetached nest: each
  /// lies within the span that is open when it begins. Spans with kOverlapping do not nest, but
  /// take time of the thread. See nestSpans().
  std::vector<TraceSpan> spans;
};

/// A training step, from one call of Profiler::step() to the next.
struct TraceStep {
  std::int64_t number = 0;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::size_t thread = 0;  ///< Index into Trace::threads of the thread that called step().
};

/// An allocation or free.
struct TraceMemoryEvent {
  std::int64_t time = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;           ///< Negative: freed.
  std::int64_t totalAllocated = 0;  ///< On the device, after this event.
  std::int64_t totalReserved = 0;   ///< 0 for the CPU.
  int deviceType = 0;               ///< LibTorch's c10::DeviceType; 0: CPU.
  int deviceIndex = -1;             ///< -1 for the CPU.
  std::size_t thread = 0;           ///< Index into Trace::threads.
};

/// Returns LibTorch's name of a device, such as "cpu", "cuda:1" or "privateuseone:0".
///
/// @param type  See TraceMemoryEvent::deviceType.
/// @param index See TraceMemoryEvent::deviceIndex.
/// @source c10/core/DeviceType.h of PyTorch
STEPTAPE_EXPORT std::string deviceName(int type, int index);

/// A number that changes over time, shown in a row of its own, such as the memory in use.
struct TraceCounter {
  std::string name;
  std::vector<std::pair<std::int64_t, double>> points;  ///< Time and value, ordered by time.
};

/// What one process did in a window of time.
struct Trace {
  std::string hostName;
  std::int64_t processId = 0;
  std::string processName;  ///< For display, such as "train"; may be empty.
  int rank = 0;
  int worldSize = 1;
  /// Unix time of time 0, by the clock that all ranks of the job share: the maker of the trace has
  /// added the rank's clock offset.
  std::int64_t originNanos = 0;
  std::int64_t duration = 0;  ///< Length of the window.

  std::vector<TraceName> names;
  std::vector<SpanDetails> details = std::vector<SpanDetails>(1);  ///< The first one is empty.
  std::vector<TraceThread> threads;
  std::vector<TraceStep> steps;          ///< Ordered by time.
  std::vector<TraceMemoryEvent> memory;  ///< Ordered by time.
  std::vector<TraceCounter> counters;
  /// Further facts as members of a JSON object: key, and value as JSON.
  std::vector<std::pair<std::string, std::string>> metadata;
  std::uint64_t dropped = 0;  ///< Spans that were lost or omitted.
};

/// Links a forward operator to the node that computed its gradient, or a call of a device's runtime
/// library to work that it launched.
struct TraceLink {
  std::size_t fromThread;  ///< Index into Trace::threads.
  std::size_t fromSpan;    ///< Index into its spans.
  std::size_t toThread;
  std::size_t toSpan;
};

/// Orders the spans of a thread as TraceThread requires. If a span begins inside another one and
/// ends outside it, the two do not nest, and viewers would reject them or draw them wrongly. The
/// shorter one is marked as kDetached and kOverlapping; of equal ones, the later. Such a span keeps
/// its times: summaries give each moment of a thread to the span that began last.
///
/// @cost   O(n log n) in the number of spans; O(n) if they are ordered and nest.
STEPTAPE_EXPORT void nestSpans(std::vector<TraceSpan>* spans);

/// Pairs forward operators and backward nodes by forward thread and sequence number. If several
/// forward operators match, the last one that began before the backward node is chosen, because
/// nested operators repeat the number of the outer one. Each operator is used once.
///
/// @return links ordered by the time of the backward node.
/// @source The rule of Kineto, https://github.com/pytorch/kineto, and of torch.profiler.
STEPTAPE_EXPORT std::vector<TraceLink> linkBackward(const Trace& trace);

/// Pairs calls of a device's runtime library (kRuntime) and the work on devices (kDevice) that they
/// launched, by TraceSpan::correlation. One call may launch several kernels.
///
/// @return links ordered by thread and span of the work.
STEPTAPE_EXPORT std::vector<TraceLink> linkLaunches(const Trace& trace);

/// Returns the number of the step that contains `time`; -1 if there is none.
STEPTAPE_EXPORT std::int64_t stepAt(const Trace& trace, std::int64_t time);

}  // namespace steptape
