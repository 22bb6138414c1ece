// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "steptape/base/export.h"

#include "log/writer/recovery_report.h"

namespace steptape::detail::log {

/// Which processes are recovered, and how.
struct RecoveryOptions {
  /// Those that had a run in this directory; empty: all of this user on this machine.
  std::string directory;
  /// Also those that had a run below it.
  bool below = false;
  /// Drops what belongs to a run directory that does not exist any more. False leaves the box: the
  /// file system may come back.
  bool discardMissing = false;
};

/// Brings into their event files what killed processes had logged there and not yet written: once,
/// in order, and without changing the bytes that are there.
///
/// A killed recovery does no harm: the next one continues. Boxes of living processes are not
/// touched, nor those of other users and of other machines. A process that was killed keeps its box
/// until the kernel has freed its memory, and a launcher may return before that: it is waited for,
/// two seconds in all.
///
/// @throws std::bad_alloc
/// @threads Thread-safe.
STEPTAPE_EXPORT RecoveryReport recoverRuns(const RecoveryOptions& options);

}  // namespace steptape::detail::log
