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
#include "steptape/distributed/communicator.h"
#include "steptape/profile/op_stats.h"
#include "steptape/profile/op_table.h"
#include "steptape/profile/schedule.h"
#include "steptape/profile/trigger.h"
#include "steptape/recorder/collector.h"
#include "steptape/trace/trace.h"
#include "steptape/writer/summary_writer.h"

namespace steptape {
namespace detail {
class SpanSource;
}

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

  /// Whether STEPTAPE_ZONE is recorded.
  bool zones = true;

  /// For OpProfiler: whether to record operators and backward nodes. Otherwise only the scopes of
  /// LibTorch's RECORD_USER_SCOPE are recorded, each of them, and operators cost nothing; `shapes`,
  /// `deviceTimes` and `operatorSampling` then say nothing.
  bool operators = true;
  /// For OpProfiler: whether to record shapes and types of operators' inputs. The table by shape,
  /// floating-point operations, bytes and modules rest on them.
  bool shapes = false;
  /// For OpProfiler: whether to record what is allocated and freed on the thread that calls start()
  /// and step(), and on autograd's and LibTorch's threads that work for it.
  bool memory = false;
  /// For OpProfiler: whether to time what operators do on devices such as GPUs, where there are
  /// any: one event before and one behind each call with inputs on a device, calls inside of it
  /// left out. Such spans are SpanKind::kDevice, on a row for each stream. They are read some steps
  /// later, on another thread. Must be off while a CUDA graph is captured.
  bool deviceTimes = true;
  /// Whether traces tell the zones and scopes around each operator as its "Call stack", and there
  /// is a table by them. Those of a backward operator are its forward operator's. Costs nothing
  /// while recording: they are worked out when the trace is written.
  bool stacks = false;
  /// For OpProfiler: of how many operators one is recorded, chosen at random: 1, 10, 100 or 1000.
  /// Calls and total times are then estimates, and self times are the total ones, because what an
  /// operator calls is mostly unknown.
  int operatorSampling = 1;

  /// Where above 0: of the steps of a window only so many are recorded that recording costs at most
  /// this share of their time, such as 0.01, which lets a profiler run all the time. The cost is
  /// logged as `profile/overhead` in any case.
  double maxOverhead = 0.0;

  /// Spans that a thread can record within 10 ms; more are dropped and counted. 32 bytes each, for
  /// every thread that records.
  std::size_t recordsPerThread = SpanCollector::kDefaultRecordsPerThread;

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

/// Times zones, step by step of a training loop. OpProfiler of <steptape/torch.h> is this plus
/// every operator of LibTorch.
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
/// One profiler can run in a process at a time. Spans of all threads are recorded; one counts if it
/// begins and ends within the window.
///
/// @threads Not thread-safe: one thread at a time.
class STEPTAPE_EXPORT Profiler {
 public:
  /// Checks the options and start()s.
  ///
  /// @throws as start(); Error(kInvalidArgument) if the schedule or `recordsPerThread` is invalid,
  ///         or a signal that cannot be caught is to begin profiles;
  ///         Error(kIoError) if `logDir` cannot be written.
  explicit Profiler(ProfilerOptions options = {});
  /// stop(), without throwing; returns once this rank's windows are written.
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  /// Begins at step 0 of the schedule, or to wait for ProfilerOptions::trigger. Does nothing while
  /// the profiler runs.
  ///
  /// @throws Error(kFailedPrecondition) while another profiler runs.
  void start();

  /// Says that a step is over: call it once at the end of each training step. While the profiler is
  /// stopped it only brings on what the ranks send.
  ///
  /// @throws with `communicator`, as a collective.
  /// @cost An uncontended lock; what was recorded is added up and written on other threads. The
  ///       first step of a window waits until the rings are empty, some 10 us. With a trigger a few
  ///       nanoseconds more; in a job of several ranks one step in 0.2 s asks the others, which
  ///       takes about a microsecond on one node, and an allreduce across nodes.
  void step();

  /// Ends profiling; a window that is open ends here and keeps what it has. Does nothing while the
  /// profiler is stopped.
  void stop();

  /// Returns once every finished window is written. With `communicator` every rank calls it, and
  /// the root has logged what all found; what was not sent by the end of the profiler is left out.
  ///
  /// @return the first failure since the last call.
  /// @throws with `communicator`, as a collective.
  Status flush();

  /// What happens during the current step; kNone while stopped.
  ProfilerAction action() const noexcept;

  /// The latest window that was finished since start(); before the first one is, what it has so
  /// far. Empty while there is none.
  OpProfile profile() const;
  /// profile().operators: the most self time first.
  std::vector<OpStats> stats() const;
  /// profile() as a Markdown table, see opTable().
  std::string table(const OpTableOptions& options = {}) const;
  /// Logs profile(), see writeOpStats().
  void writeTo(SummaryWriter& writer, std::int64_t step, const OpTableOptions& options = {}) const;

 protected:
  /// @param source A further one of spans, turned on and off with recording.
  Profiler(ProfilerOptions options, std::unique_ptr<detail::SpanSource> source);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace steptape
