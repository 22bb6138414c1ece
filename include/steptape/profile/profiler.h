// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/log/summary_writer.h"
#include "steptape/profile/trace.h"
#include "steptape/profile/trace_summary.h"
#include "steptape/ranks/communicator.h"

namespace steptape {

/// What a profiler does during a step.
enum class ProfilerAction {
  kNone,           ///< Records nothing; the hooks are disabled.
  kWarmup,         ///< Records and discards: absorbs costs of the first time.
  kRecord,         ///< Records.
  kRecordAndSave,  ///< Records; the last step of its window.
};

/// Selects the steps to profile: skips `skipFirst` steps once, then repeats cycles of `wait`,
/// `warmup` and `active`.
///
///     step     0     1     2       3       4       5                   6
///     action   none  none  warmup  record  record  recordAndSave       none ...
///     for      skipFirst = 1, wait = 1, warmup = 1, active = 3, repeat = 1
///
/// The default records one window, from start to stop.
///
/// @threads Thread-compatible: const methods may run concurrently.
/// @source torch.profiler.schedule of PyTorch, which has the same fields.
struct STEPTAPE_EXPORT ProfilerSchedule {
  /// Steps to skip once, at the start.
  std::int64_t skipFirst = 0;
  /// Steps to skip at the start of every cycle.
  std::int64_t wait = 0;
  /// Steps to record and discard in every cycle.
  std::int64_t warmup = 0;
  /// Steps to record in every cycle. 0: every step after the first warm-up until the end.
  std::int64_t active = 0;
  /// Number of cycles; 0: unlimited. Ignored if `active` is 0.
  std::int64_t repeat = 0;

  /// Returns what to do in a step.
  ///
  /// @param step Counted from 0.
  ProfilerAction actionAt(std::int64_t step) const noexcept;

  /// Returns whether all cycles have ended before `step`, so that nothing more is recorded.
  bool isOverAt(std::int64_t step) const noexcept;

  /// @throws Error(kInvalidArgument) naming the first field that is negative, and its value.
  void check() const;
};

/// Starts profiles of a running job by a signal, by a file, or by either.
///
///     ProfilerTrigger trigger;                       $ kill -USR2 PID
///     trigger.signal = SIGUSR2;                      $ touch runs/profile_now
///     trigger.file = "runs/profile_now";
///
/// Nothing is recorded until then. A trigger during a step takes effect after one of the next
/// steps. In a job of several ranks it takes effect after the same step on all of them, some tenths
/// of a second later; a signal to any one rank is enough.
///
/// - A signal starts a profile: the schedule's step 0 is the next step. The next signal ends it,
///   and an open window keeps its records. Signals within one second after a start or stop are
///   ignored, since launchers forward one signal to each rank.
/// - A profile starts when the file appears and ends when the file disappears. If a profile ends
///   for another reason, the file stays, and the next profile starts when its modification time
///   changes, for example by `touch`. A file that exists at the start counts as one that appears.
///   The root alone checks for it, four times a second, on a separate thread.
/// - A profile also ends when the cycles of its schedule are over.
struct ProfilerTrigger {
  /// Such as SIGUSR2; 0: none. Caught during the lifetime of the profiler. Before and after it, the
  /// signal has its previous effect; the default effect of SIGUSR1 and SIGUSR2 ends the process.
  int signal = 0;
  std::string file;  ///< Empty: none.

  bool isSet() const { return signal != 0 || !file.empty(); }
};

/// Options of Profiler: what it records and where it writes.
struct ProfilerOptions {
  ProfilerSchedule schedule;

  /// If set, the schedule starts at each trigger, a signal or a file, instead of at start().
  ProfilerTrigger trigger;

  /// Number of the first step, for a resumed run: names and logs the steps.
  std::int64_t firstStep = 0;

  /// If not empty, each finished window is written here, on a separate thread:
  ///
  ///     <logDir>/<host>_<pid>.<ns>.pt.trace.json.gz            for Perfetto and HTA; chromeTrace
  ///     <logDir>/<host>_<pid>.<ns>.pftrace.gz                  for Perfetto alone; perfettoTrace
  ///     <logDir>/plugins/profile/<time>/<host>.xplane.pb       for XProf; xplane
  ///     <logDir>/profile/events.out.tfevents...                as in `writer`, unless that is set
  std::string logDir;
  bool chromeTrace = true;     ///< The default format. See writeChromeTrace().
  bool perfettoTrace = false;  ///< In two fifths of the bytes, as well. See writePerfettoTrace().
  bool xplane = true;          ///< See writeXPlane().

  /// If set, each finished window is logged here by writeOpStats() and writeTraceSummary(), with
  /// the text `profile/about`: the parts of a step, and how to open the files. Must outlive the
  /// profiler.
  SummaryWriter* writer = nullptr;

  /// Also logs what is in the tables as scalars: OpTableOptions::detailScalars.
  bool detailScalars = false;

  /// Records STEPTAPE_ZONE.
  bool zones = true;

  /// Adds the zones and scopes around each span to traces as its "Call stack", and a table by them.
  /// For a backward operator they are those of its forward operator. Costs nothing while recording:
  /// computed when the trace is written.
  bool stacks = false;

  /// If above 0, records only so many steps of a window that recording costs at most this fraction
  /// of their time, such as 0.01. A profiler can then run all the time. The line below the table
  /// `profile/operators` states the cost in any case.
  double maxOverhead = 0.0;

  /// Spans that a thread can record within 10 ms; more are dropped and counted. 32 bytes each, on
  /// every recording thread.
  std::int64_t recordsPerThread = std::int64_t{1} << 16;

  /// Maximum number of spans of a window in its traces: the first ones. Further spans are counted
  /// there, and all are in the table. 32 bytes each while the window is open, about 100 while it is
  /// written. 0: no trace; only writeOpStats() is logged.
  std::int64_t maxTraceSpans = std::int64_t{1} << 20;

  /// The ranks of the job, if there are several. Each rank writes its own traces, with the root's
  /// clock and in one session. The root alone logs: its own tables, and by writeRankSummary() the
  /// results of all ranks. Every rank must make the same calls after the same steps, and all calls
  /// that change the profiler are collective, except stop(). A window begins with about 30
  /// barriers, which measure the clock offsets. In the following steps, when all ranks are ready,
  /// they send some KiB of results.
  std::shared_ptr<Communicator> communicator = nullptr;

  /// Called with the trace of every finished window when it is written, for your own figures and
  /// evaluations. Runs on the writing thread, one call at a time for all profilers of the process.
  /// `writer` is where the window is logged, or null; `step` is its step there. An exception is
  /// reported as a failed write.
  std::function<void(const Trace& trace, SummaryWriter* writer, std::int64_t step)> onTrace =
      nullptr;

  /// Receives failures of writing, on another thread. Null: prints one line to stderr.
  std::function<void(const Status&)> onError = nullptr;
};

namespace detail::profile {
class SpanSource;
}

/// Times zones in the steps of a training loop. OpProfiler in `<steptape/torch.h>` also times every
/// operator of LibTorch.
///
///     steptape::ProfilerOptions options;
///     options.schedule.wait = 1;
///     options.schedule.active = 3;
///     steptape::Profiler profiler(options);
///     for (std::int64_t step = 0; step < steps; ++step) {
///       train(step);
///       profiler.step();
///     }
///     profiler.writeTo(writer, steps);
///
/// Only one profiler can run in a process at a time. Spans of all threads are recorded; a span
/// counts if it begins and ends within the window.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT Profiler {
 public:
  /// Checks the options and calls start().
  ///
  /// @throws Error as for start(); Error(kInvalidArgument) if the schedule or `recordsPerThread` is
  ///         invalid, or the trigger's signal cannot be caught; Error(kIoError) if `logDir` cannot
  ///         be written.
  explicit Profiler(ProfilerOptions options = {});
  /// Calls stop() without throwing, and waits until this rank's windows are written.
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  /// Starts at step 0 of the schedule, or waits for ProfilerOptions::trigger. Does nothing while
  /// the profiler runs.
  ///
  /// @throws Error(kFailedPrecondition) while another profiler runs.
  void start();

  /// Ends a step. Call it once at the end of each training step. While the profiler is stopped, it
  /// only advances the exchange between ranks.
  ///
  /// @throws Error with `communicator`, as a collective.
  /// @cost   An uncontended lock; other threads sum and write the records. The first step of a
  ///         window waits until the rings are empty, about 10 us. A trigger adds a few nanoseconds;
  ///         with several ranks, one step every 0.2 s queries the other ranks, which takes about a
  ///         microsecond on one node, and an allreduce across nodes.
  void step();

  /// Ends profiling. An open window ends here and keeps its records. Does nothing while the
  /// profiler is stopped.
  void stop();

  /// Waits until every finished window is written. With `communicator` every rank calls it, and
  /// afterwards the root has logged the results of all ranks. Results not sent before the profiler
  /// is destroyed are lost.
  ///
  /// @return the first failure since the last call.
  /// @throws Error with `communicator`, as a collective.
  Status flush();

  /// Returns what happens in the current step; kNone while stopped.
  ProfilerAction action() const noexcept;

  /// Returns the latest window finished since start(); before the first is finished, its records so
  /// far. Empty if there is no window.
  OpProfile profile() const;
  /// Returns profile().operators, ordered by self time, largest first.
  std::vector<OpStats> stats() const;
  /// Returns profile() as a Markdown table; see opTable().
  std::string table(const OpTableOptions& options = {}) const;
  /// Logs profile(); see writeOpStats().
  void writeTo(SummaryWriter& writer, std::int64_t step, const OpTableOptions& options = {}) const;

 protected:
  /// @param options See ProfilerOptions.
  /// @param source  A further source of spans, enabled and disabled with recording.
  Profiler(ProfilerOptions options, std::unique_ptr<detail::profile::SpanSource> source);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace steptape
