// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/trace/trace.h"

namespace steptape {

/// How a profile for XProf is written.
struct XPlaneOptions {
  /// Unix time from which the file counts. XProf knows no other: where the files of all ranks have
  /// the same one, such as the time that their session is named by, what they did lies side by
  /// side. 0: Trace::originNanos. What happened before it makes the file count from there.
  std::int64_t originNanos = 0;
};

/// Writes a process as the file that XProf, TensorBoard's profile page, reads. It shows steps,
/// operators, data loading, memory and the trace itself.
///
/// The file appears under `path` when it is whole, in folders that are made if need be: XProf reads
/// a file once and notices no change. It also reads all files of a session at once, so those of
/// several ranks should be in a folder that gets its name when all are written. XProf looks for
/// `<logdir>/plugins/profile/<session>/<host>.xplane.pb`, see xplanePath().
///
/// Operators, backward nodes, data loading, collectives and waits for ranks, on any thread, count
/// as parts of the step that they begin in. XProf has no column for communication of the host: it
/// counts collectives and waits as "Host compute". Zones are shown, and count as nothing. XProf
/// leaves out the first and the last of more than five steps.
///
/// @return kIoError with the path and the system's reason; kFailedPrecondition if the file exists.
/// @threads Thread-safe.
/// @cost   Memory of about 40 bytes a span.
/// @source tsl/profiler/protobuf/xplane.proto of OpenXLA; what XProf makes of it, by experiment.
STEPTAPE_EXPORT Status writeXPlane(const std::string& path, const Trace& trace,
                                   const XPlaneOptions& options = {});

/// Reads what writeXPlane() has written, and what else is in that form as far as a Trace can say
/// it.
///
/// @throws Error(kIoError) if the file cannot be read; Error(kInvalidArgument) if it is no XSpace.
/// @threads Thread-safe.
STEPTAPE_EXPORT Trace readXPlane(const std::string& path);

/// "<logDir>/plugins/profile/<session>/<host>.xplane.pb", for a job of several ranks
/// ".../<host>_rank00003.xplane.pb". Characters of the host's name that XProf cannot do with, such
/// as commas, become '_'.
STEPTAPE_EXPORT std::string xplanePath(const std::string& logDir, const std::string& session,
                                       const Trace& trace);

/// A session's name for a time, such as "2026_11_22_14_03_59" in local time: XProf lists the newest
/// first by name.
STEPTAPE_EXPORT std::string profileSessionName(std::int64_t unixNanos);

}  // namespace steptape
