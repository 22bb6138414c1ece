// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace steptape {

/// How a running job is told to profile: by a signal, by a file, or either.
///
///     ProfilerTrigger trigger;                       $ kill -USR2 PID
///     trigger.signal = SIGUSR2;                      $ touch runs/profile_now
///     trigger.file = "runs/profile_now";
///
/// Until then nothing is recorded. What comes during a step counts behind one of the next steps, in
/// a job of several ranks behind the same one on all of them, some tenths of a second later: it is
/// enough that one rank gets the signal.
///
/// - A signal begins a profile: the schedule's step 0 is the next one. The next signal ends it, and
///   a window that is open keeps what it has. Signals within a second behind a beginning or an end
///   count for nothing, since launchers hand one signal to each rank.
/// - A profile begins when the file appears, and ends when the file disappears. A profile that
///   ended otherwise leaves the file alone; another one begins when its modification time changes,
///   as `touch` makes it. A file that is there from the start counts as one that appears. It is
///   looked for four times a second, by the root alone, on a thread of its own.
/// - A profile also ends when the cycles of its schedule are over.
struct ProfilerTrigger {
  /// Such as SIGUSR2; 0: none. Caught during the whole life of the profiler. Before and after it
  /// does what it did, which of SIGUSR1 and SIGUSR2 is to end the process.
  int signal = 0;
  std::string file;  ///< Empty: none.

  bool isSet() const { return signal != 0 || !file.empty(); }
};

}  // namespace steptape
