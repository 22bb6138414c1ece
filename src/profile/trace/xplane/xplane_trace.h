// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/profile/trace.h"

namespace steptape::detail::profile {

/// Options for writing a profile for XProf.
struct XPlaneOptions {
  /// Unix time that is the time 0 of the file. XProf does not know other times: if the files of all
  /// ranks have the same origin, such as the time in the name of their session, their events are
  /// aligned. 0: Trace::originNanos. An event before this time moves the origin to the event.
  std::int64_t originNanos = 0;
};

/// Writes a process as a file for XProf, TensorBoard's profile page, which shows steps, operators,
/// data loading, memory and the trace itself.
///
/// The file appears under `path` when it is complete; missing directories are created. XProf reads
/// a file only once and does not notice changes. It also reads all files of a session at once, so
/// those of several ranks should be in a directory that gets its name when all are written. XProf
/// looks for `<logdir>/plugins/profile/<session>/<host>.xplane.pb`; see xplanePath().
///
/// Operators, backward nodes, data loading, collectives and waits for ranks, on any thread, count
/// as parts of the step in which they start. XProf has no category for communication on the host:
/// it counts collectives and waits as "Host compute". Zones are shown but not counted. Of more than
/// five steps, XProf omits the first and the last.
///
/// @return  kIoError with the path and the operating system's error message; kFailedPrecondition if
///          the file exists.
/// @threads Thread-safe.
/// @cost    About 40 bytes of memory per span.
/// @source  tsl/profiler/protobuf/xplane.proto of OpenXLA; XProf's interpretation, by experiment.
STEPTAPE_EXPORT Status writeXPlane(const std::string& path, const Trace& trace,
                                   const XPlaneOptions& options = {});

/// Reads a file of writeXPlane(), or another file in that format, compressed or not, as far as a
/// Trace can represent it. Times of lines are Unix times, as old profilers wrote them, or relative
/// to the start that the file states; Trace::originNanos is 0 if it states none.
///
/// @throws  Error(kIoError) if the file cannot be read; Error(kDataLoss) if its gzip data is
///          damaged; Error(kInvalidArgument) if it is not an XSpace.
/// @threads Thread-safe.
STEPTAPE_EXPORT Trace readXPlane(const std::string& path);

/// Returns "<logDir>/plugins/profile/<session>/<host>.xplane.pb", for a job of several ranks
/// ".../<host>_rank00003.xplane.pb". Characters of the host's name that XProf does not support,
/// such as commas, become '_'.
STEPTAPE_EXPORT std::string xplanePath(const std::string& logDir, const std::string& session,
                                       const Trace& trace);

/// Returns a session's name for a time, such as "2026_11_22_14_03_59" in local time: XProf sorts
/// sessions by name, newest first.
STEPTAPE_EXPORT std::string profileSessionName(std::int64_t unixNanos);

}  // namespace steptape::detail::profile
