// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/profile/trace.h"

namespace steptape::detail::profile {

/// Options for writing a Chrome trace.
struct ChromeTraceOptions {
  /// Whether to compress with gzip. Perfetto, chrome://tracing and HolisticTraceAnalysis read both.
  bool compress = true;
};

/// Writes processes as one JSON file for Perfetto, chrome://tracing and, if there is a single
/// process, HolisticTraceAnalysis. The format is that of PyTorch's Kineto, with `ProfilerStep#N`,
/// arrows from forward to backward and from launches to kernels, memory and `distributedInfo`.
///
/// The file appears under `path` when it is complete, and replaces an existing file. Times are
/// relative to a base that all files of a job share, so that the traces of several ranks are
/// aligned. Slices always nest, as viewers expect: spans with kDetached, and spans that start in a
/// step and end outside of it, are drawn in separate rows.
///
/// @param processes Not empty. A single process keeps its pid and ranks. For several, the pid is
///                  the rank, or an unused number if two have the same rank.
/// @return  kIoError with the path and the operating system's error message; kInvalidArgument if
///          there is no process. No file remains then.
/// @threads Thread-safe.
/// @cost    About 0.8 us per event on a current core, 0.2 us without compression. Some MiB of
///          memory, 40 bytes for each span with a sequence number and about 150 for each launch
///          of a device's work, whatever else is in the trace.
STEPTAPE_EXPORT Status writeChromeTrace(const std::string& path, ArrayView<const Trace> processes,
                                        const ChromeTraceOptions& options = {});
inline Status writeChromeTrace(const std::string& path, const Trace& process,
                               const ChromeTraceOptions& options = {}) {
  return writeChromeTrace(path, ArrayView<const Trace>(&process, 1), options);
}

/// Reads a file of writeChromeTrace() or Kineto, compressed or not: one Trace for each process that
/// has events. Streams of devices become threads of the process, with TraceThread::device.
///
/// Also reads the other forms of the format: a list of events without an object around it, which
/// may end anywhere, pairs of events with `ph` "B" and "E", and NaN and Infinity as Python writes
/// them. Events may be in any order; of those of a thread at one time, an earlier one of the file
/// comes first. Events with the argument `step_num`, as JAX writes them, are steps.
///
/// Omits arrows, because linkBackward() finds them again, and numbers that are only an event's
/// position in its file, such as "External id". Arguments for which SpanDetails has no member are
/// in SpanDetails::arguments.
///
/// @param notes If not null, receives a sentence with the path for each fact about the file that
///              its user should know: that it ends in the middle, which is an error otherwise, that
///              it has numbers that are not JSON, and that it has events of which a Trace holds
///              nothing, such as instants.
/// @throws  Error(kIoError) if the file cannot be read, or must be read twice and is a FIFO;
///          Error(kDataLoss) if its gzip data is damaged; Error(kInvalidArgument) with the position
///          if it is not JSON or has no `traceEvents`, if a number has more than 1000 characters,
///          or if arrays and objects have more than 1000 levels. Spans without a place in a Trace
///          are omitted and counted in Trace::dropped of the first process.
/// @threads Thread-safe.
/// @cost    Memory for the trace, and at most 16 MiB for the text, whatever its size: a string is
///          truncated to 1 MiB and ends with "…". An array or object of more than 1 MiB that is
///          not an event is omitted, and so are members beyond 4 MiB of the file or of one event. A
///          file in which begins and ends of a thread are not in the order of time is read twice,
///          with about 100 bytes for each of them.
STEPTAPE_EXPORT std::vector<Trace> readChromeTrace(const std::string& path,
                                                   std::vector<std::string>* notes = nullptr);

/// Returns "<host>_<pid>.<nanoseconds>.pt.trace.json.gz", a name that viewers recognize. If a job
/// has several ranks, it is "<host>_rank00003_<pid>. ...".
STEPTAPE_EXPORT std::string chromeTraceFileName(const Trace& trace);

}  // namespace steptape::detail::profile
