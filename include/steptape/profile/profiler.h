// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "steptape/base/export.h"
#include "steptape/base/status.h"
#include "steptape/comm/communicator.h"
#include "steptape/profile/op_stats.h"
#include "steptape/profile/profiler_options.h"
#include "steptape/trace/trace.h"
#include "steptape/writer/summary_writer.h"

namespace steptape {
namespace detail {
class SpanSource;
}

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
