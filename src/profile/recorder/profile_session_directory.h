// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/profile/trace.h"

#include "profile/trace/xplane/xplane_trace.h"

namespace steptape::detail::profile {

/// Returns a name for a new session: profileSessionName(), with a number if this process has
/// already returned that name.
///
/// @threads Thread-safe.
std::string newSessionName(std::int64_t unixNanos);

/// Writes files to the session directories of XProf. Each directory appears once it holds the files
/// of all ranks: XProf reads a session once and would miss later files.
///
/// Until then, the files are in `<logDir>/plugins/profile_unfinished/<session>`. The last rank to
/// write moves the directory. This needs no messages, because the ranks share the file system. If
/// ranks do not share it, or if one has ended, the directory moves with the next session, and the
/// last one with finish().
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT ProfileSessionDirectory {
 public:
  explicit ProfileSessionDirectory(std::string logDir) : logDir_(std::move(logDir)) {}

  Status write(const std::string& session, const Trace& trace, const XPlaneOptions& options = {});

  /// Moves the last session to XProf's directory, complete or not.
  ///
  /// @param patience How long to wait for the other ranks' files.
  Status finish(std::chrono::milliseconds patience);

 private:
  std::string unfinished(const std::string& session) const;
  Status appear(const std::string& session) const;

  std::string logDir_;
  std::string last_;  // may not have appeared yet; empty: none
};

}  // namespace steptape::detail::profile
