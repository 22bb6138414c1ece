// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/trace/trace.h"

namespace steptape {

/// Writes a process as the file that XProf, TensorBoard's profile page, reads. It shows steps,
/// operators, data loading, memory and the trace itself.
///
/// The file appears under `path` when it is whole: XProf reads a file once and notices no change.
/// It looks for `<logdir>/plugins/profile/<session>/<host>.xplane.pb`, see xplanePath().
///
/// @return kIoError with the path and the system's reason; kFailedPrecondition if the file exists.
/// @threads Thread-safe.
/// @cost   Memory of about 40 bytes a span.
/// @source tsl/profiler/protobuf/xplane.proto of OpenXLA; what XProf makes of it, by experiment.
STEPTAPE_EXPORT Status writeXPlane(const std::string& path, const Trace& trace);

/// Reads what writeXPlane() has written, and what else is in that form as far as a Trace can say it.
///
/// @throws Error(kIoError) if the file cannot be read; Error(kInvalidArgument) if it is no XSpace.
/// @threads Thread-safe.
STEPTAPE_EXPORT Trace readXPlane(const std::string& path);

/// "<logDir>/plugins/profile/<session>/<host>.xplane.pb", for a job of several ranks
/// ".../<host>_rank00003.xplane.pb".
STEPTAPE_EXPORT std::string xplanePath(const std::string& logDir, const std::string& session,
                                       const Trace& trace);

/// A session's name for a time, such as "2026_11_22_14_03_59": XProf lists the newest first by name.
STEPTAPE_EXPORT std::string profileSessionName(std::int64_t unixNanos);

}  // namespace steptape
