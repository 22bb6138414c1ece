// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "steptape/base/array_view.h"
#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/trace/trace.h"

namespace steptape {

/// How a Chrome trace is written.
struct ChromeTraceOptions {
  /// Whether to compress with gzip. Perfetto, chrome://tracing and HolisticTraceAnalysis read both.
  bool compress = true;
};

/// Writes processes as one JSON file that Perfetto, chrome://tracing and, with a single process,
/// HolisticTraceAnalysis read; the form is that of PyTorch's Kineto, with `ProfilerStep#N`, arrows
/// from forward to backward, memory and `distributedInfo`.
///
/// The file appears under `path` when it is whole, replacing one that was there. Times are relative
/// to a base that all files of a job share, so that the traces of several ranks lie side by side.
/// What viewers want nested stays so: spans with kDetached, and those that begin in a step and end
/// outside of it, are drawn in rows of their own.
///
/// @param processes Not empty. Of a single one pid and ranks are its own; of several, the pid is
///                  the rank, or a number that is free if two have the same rank.
/// @return kIoError with the path and the system's reason, kInvalidArgument if there is no process;
///         no file remains then.
/// @threads Thread-safe.
/// @cost   About 0.15 us an event on a current core, compressed or not. Memory of some MiB, and 40
///         bytes for each span that has a sequence number, whatever else is in the trace.
STEPTAPE_EXPORT Status writeChromeTrace(const std::string& path, ArrayView<const Trace> processes,
                                        const ChromeTraceOptions& options = {});
inline Status writeChromeTrace(const std::string& path, const Trace& process,
                               const ChromeTraceOptions& options = {}) {
  return writeChromeTrace(path, ArrayView<const Trace>(&process, 1), options);
}

/// Reads what writeChromeTrace() or Kineto has written, compressed or not: a Trace for each process
/// that has events. Streams of devices become threads of the process, with TraceThread::device.
///
/// Arrows are left out, as linkBackward() finds them again; so are numbers that only say where an
/// event stood in its file, such as "External id". Arguments that SpanDetails has no member for are
/// in SpanDetails::arguments.
///
/// @throws Error(kIoError) if the file cannot be read; Error(kDataLoss) if its gzip data is
///         damaged; Error(kInvalidArgument) naming the place if it is no JSON or has no
///         `traceEvents`. Events that no Trace can hold are left out and counted in Trace::dropped
///         of the first process. A number of more than 1000 characters, or more than 1000 levels of
///         arrays and objects, is no trace's.
/// @threads Thread-safe.
/// @cost   Memory for the trace, and at most 16 MiB for the text, whatever its size: a string of
///         more than 1 MiB ends there with "…"; an array or object of more than 1 MiB that is no
///         event, and members beyond 4 MiB of the file or of one event, are left out.
STEPTAPE_EXPORT std::vector<Trace> readChromeTrace(const std::string& path);

/// "<host>_<pid>.<nanoseconds>.pt.trace.json.gz", by which viewers find traces; where a job has
/// several ranks, "<host>_rank00003_<pid>. ...".
STEPTAPE_EXPORT std::string chromeTraceFileName(const Trace& trace);

}  // namespace steptape
