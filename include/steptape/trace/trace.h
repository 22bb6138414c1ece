// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/span/span_record.h"

namespace steptape {

// A trace in memory: what one process did in a window of time. The profiler makes one of the
// records of a window, the readers make them of files, and each file format is written from one, so
// that every format can be converted to every other.
//
// All times are nanoseconds since Trace::originNanos.

/// What a span is called.
struct TraceName {
  std::string text;
  SpanKind kind = SpanKind::kZone;
  /// As the file says that the trace was read from, such as "cuda_runtime"; empty: as its kind.
  std::string category = {};
  std::uint32_t color = 0;  ///< 0xRRGGBB; 0: none.
};

struct TraceSpan {
  std::int64_t start = 0;
  std::int64_t duration = 0;        ///< At least 0.
  std::int64_t sequence = -1;       ///< See SpanRecord::sequence().
  double value = 0.0;               ///< The user's, if flags has kHasValue.
  std::uint32_t name = 0;           ///< Index into Trace::names.
  std::uint32_t details = 0;        ///< Index into Trace::details.
  std::uint16_t forwardThread = 0;  ///< See SpanRecord::forwardThread.
  std::uint8_t flags = 0;           ///< Of SpanFlag.
};

struct TraceThread {
  std::uint64_t id = 0;  ///< The system's number of the thread; of a device, of its stream.
  std::string name;      ///< For people; may be empty.
  int device = -1;       ///< The device whose stream this is; -1: a thread of the host.
  /// Ordered by start, and where starts are equal the longer one first. Spans without kDetached
  /// nest: each lies within the one that is open when it begins. See nestSpans().
  std::vector<TraceSpan> spans;
};

/// A training step, from one call of Profiler::step() to the next.
struct TraceStep {
  std::int64_t number = 0;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::size_t thread = 0;  ///< Index into Trace::threads: who called step().
};

/// Memory that was allocated or freed.
struct TraceMemoryEvent {
  std::int64_t time = 0;
  std::uint64_t address = 0;
  std::int64_t bytes = 0;           ///< Negative: freed.
  std::int64_t totalAllocated = 0;  ///< On the device, behind this event.
  std::int64_t totalReserved = 0;   ///< 0 for the CPU.
  int deviceType = 0;               ///< LibTorch's c10::DeviceType; 0: CPU.
  int deviceIndex = -1;             ///< -1 for the CPU.
  std::size_t thread = 0;           ///< Index into Trace::threads.
};

/// What LibTorch calls a device, such as "cpu", "cuda:1" or "privateuseone:0".
///
/// @param type  See TraceMemoryEvent, as for `index`.
/// @source c10/core/DeviceType.h of PyTorch
STEPTAPE_EXPORT std::string deviceName(int type, int index);

/// A number that changes, for a row of its own, such as the memory in use.
struct TraceCounter {
  std::string name;
  std::vector<std::pair<std::int64_t, double>> points;  ///< Time and value, by time.
};

/// What one process did.
struct Trace {
  std::string hostName;
  std::int64_t processId = 0;
  std::string processName;  ///< For people, such as "train"; may be empty.
  int rank = 0;
  int worldSize = 1;
  /// Unix time of the time 0, by the clock that all ranks of the job share: whoever makes the trace
  /// has added the rank's offset.
  std::int64_t originNanos = 0;
  std::int64_t duration = 0;  ///< Of the window.

  std::vector<TraceName> names;
  std::vector<SpanDetails> details = std::vector<SpanDetails>(1);  ///< The first one is empty.
  std::vector<TraceThread> threads;
  std::vector<TraceStep> steps;          ///< By time.
  std::vector<TraceMemoryEvent> memory;  ///< By time.
  std::vector<TraceCounter> counters;
  /// Further facts as members of a JSON object: key, and value as JSON.
  std::vector<std::pair<std::string, std::string>> metadata;
  std::uint64_t dropped = 0;  ///< Spans that were lost or left out.
};

/// An arrow from a forward operator to the node that computed its gradient.
struct TraceLink {
  std::size_t fromThread;  ///< Index into Trace::threads.
  std::size_t fromSpan;    ///< Index into its spans.
  std::size_t toThread;
  std::size_t toSpan;
};

/// Orders the spans of a thread as TraceThread wants them, and marks those kDetached that begin in
/// one span and end outside of it: such a pair has no order, and viewers draw wrong what they do
/// not refuse. The one that began later is marked.
///
/// @cost n log n of the spans; n if they are in order.
STEPTAPE_EXPORT void nestSpans(std::vector<TraceSpan>* spans);

/// Pairs forward operators and backward nodes by forward thread and sequence number. Of several
/// forward operators with the same ones the last that began before the backward node counts, as
/// nested operators repeat the number of the outer one; each is used once.
///
/// @return ordered by the time of the backward node.
/// @source The rule of Kineto, https://github.com/pytorch/kineto, and of torch.profiler.
STEPTAPE_EXPORT std::vector<TraceLink> linkBackward(const Trace& trace);

/// The number of the step that `time` lies in; -1 if in none.
STEPTAPE_EXPORT std::int64_t stepAt(const Trace& trace, std::int64_t time);

}  // namespace steptape
