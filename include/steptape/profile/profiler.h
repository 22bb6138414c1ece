// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/log/summary_writer.h"
#include "steptape/profile/op_stats.h"
#include "steptape/profile/profiler_options.h"
#include "steptape/profile/trace.h"
#include "steptape/ranks/communicator.h"

namespace steptape {
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
