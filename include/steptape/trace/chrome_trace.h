// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/span.h"
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
///
/// @param processes Not empty. Of a single one pid and ranks are its own; of several, the pid is the
///                  rank, or a running number if two have the same rank.
/// @return kIoError with the path and the system's reason; nothing is left behind then.
/// @threads Thread-safe.
/// @cost   Memory for some buffers, whatever the size of the trace.
STEPTAPE_EXPORT Status writeChromeTrace(const std::string& path, Span<const Trace> processes,
                                        const ChromeTraceOptions& options = {});

/// Reads what writeChromeTrace() or Kineto has written, compressed or not: a Trace for each process
/// that has spans. Streams of devices become threads with TraceThread::device.
///
/// @throws Error(kIoError) if the file cannot be read; Error(kInvalidArgument) naming the place if it
///         is no JSON or has no `traceEvents`. Events of unknown forms are left out and counted in
///         Trace::dropped of the first process.
/// @threads Thread-safe.
/// @cost   Memory for the trace, not for the text.
STEPTAPE_EXPORT std::vector<Trace> readChromeTrace(const std::string& path);

/// "<host>_<pid>.<nanoseconds>.pt.trace.json.gz", by which viewers find traces, with `rank` in front
/// of the process id where a job has several: "<host>_rank00003_<pid>. ...".
STEPTAPE_EXPORT std::string chromeTraceFileName(const Trace& trace);

}  // namespace steptape
