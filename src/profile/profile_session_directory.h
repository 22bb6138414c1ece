// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/status.h"
#include "steptape/trace/trace.h"
#include "steptape/trace/xplane_trace.h"

namespace steptape::detail {

/// Writes `trace` to the session directory where XProf looks, which appears there once the files of
/// all ranks lie in it: XProf reads a session once and would miss those that come later.
///
/// Until then they lie in `<logDir>/plugins/profile_unfinished/<session>`. The rank that finds itself
/// the last one moves the directory; no messages are needed, since they share the file system. Where
/// ranks do not, their files stay there until finishSession().
///
/// @threads Thread-safe.
Status writeToSession(const std::string& logDir, const std::string& session, const Trace& trace,
                      const XPlaneOptions& options = {});

/// Moves what there is of a session to where XProf looks, complete or not.
Status finishSession(const std::string& logDir, const std::string& session);

}  // namespace steptape::detail
