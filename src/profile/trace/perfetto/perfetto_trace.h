// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/array_view.h"
#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/profile/trace.h"

namespace steptape::detail::profile {

/// How a Perfetto trace is written.
struct PerfettoTraceOptions {
  /// Whether to compress with gzip. Perfetto reads both.
  bool compress = true;
};

/// Writes processes as one file in Perfetto's own binary format, which ui.perfetto.dev and
/// Perfetto's trace processor read.
///
/// It holds what writeChromeTrace() writes, in half the bytes and half the time, except for the
/// numbers of events, which no reader of this format needs. Times are Unix times in nanoseconds.
/// Spans with kDetached are on tracks of their own, as many as overlap at one time; so are steps.
/// Devices are groups of tracks within their process.
///
/// The file appears under `path` when it is complete, and replaces an existing file.
///
/// @param processes Not empty. Their process ids are those that writeChromeTrace() writes.
/// @return kIoError with the path and the operating system's error message; kInvalidArgument if
///         there is no process. No file remains then.
/// @threads Thread-safe.
/// @cost   About 0.4 us a span on a current core, 0.15 us without compression. Memory of some MiB,
///         40 bytes for each span that has a sequence number, and 4 bytes for each span of a thread
///         with arrows.
/// @source protos/perfetto/trace of https://github.com/google/perfetto
STEPTAPE_EXPORT Status writePerfettoTrace(const std::string& path, ArrayView<const Trace> processes,
                                          const PerfettoTraceOptions& options = {});
inline Status writePerfettoTrace(const std::string& path, const Trace& process,
                                 const PerfettoTraceOptions& options = {}) {
  return writePerfettoTrace(path, ArrayView<const Trace>(&process, 1), options);
}

/// Returns "<host>_<pid>.<nanoseconds>.pftrace.gz"; if the job has several ranks,
/// "<host>_rank00003_<pid>. ...".
STEPTAPE_EXPORT std::string perfettoTraceFileName(const Trace& trace);

}  // namespace steptape::detail::profile
