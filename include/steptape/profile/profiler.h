// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/recorder/collector.h"
#include "steptape/profile/op_stats.h"
#include "steptape/profile/op_table.h"
#include "steptape/profile/schedule.h"
#include "steptape/writer/summary_writer.h"

namespace steptape {

/// What a Profiler records and where it writes.
struct ProfilerOptions {
  ProfilerSchedule schedule;

  /// Where set, every finished window is logged here by writeOpStats(), in the sub-run
  /// `<logDir>/profile`: a run whose directory two writers share would confuse TensorBoard.
  std::string logDir;

  /// Whether STEPTAPE_ZONE is recorded.
  bool zones = true;

  /// Spans that a thread can record between two calls of step(); more are dropped and counted. 32
  /// bytes each, for every thread that records.
  std::size_t recordsPerThread = SpanCollector::kDefaultRecordsPerThread;
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
  /// @throws as start(); Error(kInvalidArgument) if the schedule or `recordsPerThread` is invalid;
  ///         Error(kIoError) if `logDir` cannot be written.
  explicit Profiler(ProfilerOptions options = {});
  /// stop(), without throwing.
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  /// Begins at step 0 of the schedule. Does nothing while the profiler runs.
  ///
  /// @throws Error(kFailedPrecondition) while another profiler runs.
  void start();

  /// Says that a step is over: call it once at the end of each training step. Does nothing while
  /// the profiler is stopped.
  ///
  /// @cost Adds up what was recorded since the last call, a few nanoseconds per span.
  void step();

  /// Ends profiling; a window that is open ends here and keeps what it has. Does nothing while the
  /// profiler is stopped.
  void stop();

  /// What happens during the current step; kNone while stopped.
  ProfilerAction action() const noexcept;

  /// The latest window that was finished since start(); before the first one is, what it has up to
  /// the last step(). Empty while there is none.
  OpProfile profile() const;
  /// profile().operators: the most self time first.
  std::vector<OpStats> stats() const;
  /// profile() as a Markdown table, see opTable().
  std::string table(const OpTableOptions& options = {}) const;
  /// Logs profile(), see writeOpStats().
  void writeTo(SummaryWriter& writer, std::int64_t step, const OpTableOptions& options = {}) const;

 protected:
  /// Turns a further source of spans on and off with recording.
  using SourceSwitch = void (*)(bool on);
  Profiler(ProfilerOptions options, SourceSwitch source);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace steptape
