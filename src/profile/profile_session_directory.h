// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/trace/trace.h"

#include "trace/xplane_trace.h"

namespace steptape::detail {

/// A name for a session that begins: profileSessionName(), with a number after it where this
/// process gave that name before.
///
/// @threads Thread-safe.
std::string newSessionName(std::int64_t unixNanos);

/// Writes files to the session directories where XProf looks, each of which appears once the files
/// of all ranks lie in it: XProf reads a session once and would miss those that come later.
///
/// Until then they lie in `<logDir>/plugins/profile_unfinished/<session>`. The rank that finds
/// itself the last one moves the directory; no messages are needed, since they share the file
/// system. Where ranks do not, or one of them is gone, it moves with the next session, and the last
/// one with finish().
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT ProfileSessionDirectory {
 public:
  explicit ProfileSessionDirectory(std::string logDir) : logDir_(std::move(logDir)) {}

  Status write(const std::string& session, const Trace& trace, const XPlaneOptions& options = {});

  /// Moves what there is of the last session to where XProf looks, complete or not.
  ///
  /// @param patience How long to wait for the other ranks' files.
  Status finish(std::chrono::milliseconds patience);

 private:
  std::string unfinished(const std::string& session) const;
  Status appear(const std::string& session) const;

  std::string logDir_;
  std::string last_;  // that may not have appeared yet; empty: none
};

}  // namespace steptape::detail
