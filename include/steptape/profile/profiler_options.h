// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/comm/communicator.h"
#include "steptape/trace/trace.h"
#include "steptape/writer/summary_writer.h"

namespace steptape {

/// What a profiler does during a step.
enum class ProfilerAction {
  kNone,           ///< Nothing is recorded; the hooks are off.
  kWarmup,         ///< Recorded and thrown away: pays for what happens only the first time.
  kRecord,         ///< Recorded.
  kRecordAndSave,  ///< Recorded; the last step of its window.
};

/// Which steps to profile: `skipFirst` steps once, then cycles of `wait`, `warmup` and `active`.
///
///     step     0     1     2       3       4       5                   6
///     action   none  none  warmup  record  record  recordAndSave       none ...
///     for      skipFirst = 1, wait = 1, warmup = 1, active = 3, repeat = 1
///
/// The default records one window, from start to stop.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @source  torch.profiler.schedule of PyTorch, whose fields these are.
struct STEPTAPE_EXPORT ProfilerSchedule {
  /// Steps to leave out once, at the start.
  std::int64_t skipFirst = 0;
  /// Steps to leave out at the start of every cycle.
  std::int64_t wait = 0;
  /// Steps to record and throw away in every cycle.
  std::int64_t warmup = 0;
  /// Steps to record in every cycle. 0: after the first warm-up every step until the end.
  std::int64_t active = 0;
  /// Cycles to make; 0: as many as there are steps. Not used when `active` is 0.
  std::int64_t repeat = 0;

  /// @param step Counted from 0. @return what to do during it.
  ProfilerAction actionAt(std::int64_t step) const noexcept;

  /// Whether nothing is recorded at `step` or later, since all cycles are over.
  bool isOverAt(std::int64_t step) const noexcept;

  /// @throws Error(kInvalidArgument) naming the first field that is negative, and its value.
  void check() const;
};

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

/// What a Profiler records and where it writes.
struct ProfilerOptions {
  ProfilerSchedule schedule;

  /// Where set, the schedule does not begin at start(), but each time that the running job is told
  /// to: by a signal or by a file.
  ProfilerTrigger trigger;

  /// The number of the first step, for a run that goes on: steps are called and logged by it.
  std::int64_t firstStep = 0;

  /// Where set, every finished window is written here, on a thread of its own:
  ///
  ///     <logDir>/<host>_<pid>.<ns>.pt.trace.json.gz            for Perfetto and HTA; chromeTrace
  ///     <logDir>/plugins/profile/<time>/<host>.xplane.pb       for XProf; xplane
  ///     <logDir>/profile/events.out.tfevents...                as in `writer`, unless that is set
  std::string logDir;
  bool chromeTrace = true;  ///< See writeChromeTrace().
  bool xplane = true;       ///< See writeXPlane().

  /// Where set, every finished window is logged here by writeOpStats() and writeTraceSummary(),
  /// with the text `profile/about`: the parts of a step, and how to look at the files. Must outlive
  /// the profiler.
  SummaryWriter* writer = nullptr;

  /// Whether what is in the tables is also logged as scalars: OpTableOptions::detailScalars.
  bool detailScalars = false;

  /// Whether STEPTAPE_ZONE is recorded.
  bool zones = true;

  /// Whether traces tell the zones and scopes around each span as its "Call stack", and there is a
  /// table by them. Those of a backward operator are its forward operator's. Costs nothing while
  /// recording: they are worked out when the trace is written.
  bool stacks = false;

  /// Where above 0: of the steps of a window only so many are recorded that recording costs at most
  /// this share of their time, such as 0.01, which lets a profiler run all the time. The cost is
  /// below the table `profile/operators` in any case.
  double maxOverhead = 0.0;

  /// Spans that a thread can record within 10 ms; more are dropped and counted. 32 bytes each, for
  /// every thread that records.
  std::size_t recordsPerThread = std::size_t{1} << 16;

  /// Spans of a window that go into its traces, the first ones; the others are counted there. All
  /// are in the table. 32 bytes each while the window is open, about 100 while it is written. 0: no
  /// trace is made, and nothing written but writeOpStats().
  std::size_t maxTraceSpans = std::size_t{1} << 20;

  /// The ranks of the job, if there are several: each writes traces of its own, on the root's clock
  /// and in one session, and the root alone logs: its own tables, and by writeRankSummary() what
  /// all ranks found. Every rank then makes the same calls behind the same steps, and all that
  /// change anything but stop() are collective: a window begins with some 30 barriers, which tell
  /// how the clocks stand, and behind the steps that follow it the ranks send some KiB of what they
  /// found, when all are ready.
  std::shared_ptr<Communicator> communicator = nullptr;

  /// Told of the trace of every finished window, for pictures and evaluations of your own, on the
  /// thread that writes it, which is one for all profilers of the process: one call at a time.
  /// `writer` is where the window is logged, or null; `step` its step there. Called when the window
  /// is written; what it throws is told as what could not be written.
  std::function<void(const Trace& trace, SummaryWriter* writer, std::int64_t step)> onTrace =
      nullptr;

  /// Told of what could not be written, on another thread. Null: one line to stderr.
  std::function<void(const Status&)> onError = nullptr;
};

}  // namespace steptape
