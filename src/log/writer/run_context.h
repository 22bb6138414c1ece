// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/events/plugin_content.h"
#include "steptape/log/writer_options.h"

#include "base/mutex.h"
#include "log/writer/loss_log.h"
#include "log/writer/memory_budget.h"
#include "log/writer/reporter.h"
#include "log/writer/run_counters.h"
#include "process/blackbox/directory_lock.h"
#include "process/commands/event_command.h"

namespace steptape::detail::log {

/// The state that the callers, the backend and the streams of one run share. It depends on none of
/// them: a stream can access nothing else of its run.
///
/// @threads Thread-safe.
class RunContext {
 public:
  /// An event file of the run, with its directory.
  struct File {
    std::string path;
    std::string directory;
  };

  RunContext(std::string directory, WriterOptions options);

  const std::string& directory() const { return directory_; }
  const WriterOptions& options() const { return options_; }
  double wallSeconds() const { return clock().wallSeconds(); }
  /// Returns the construction time of the writer, in seconds since 1970.
  double startTime() const { return startTime_; }

  // --- What the run has done, and what went wrong ------------------------------------------------

  RunCounters& counters() { return counters_; }
  const RunCounters& counters() const { return counters_; }
  Reporter& reporter() { return reporter_; }
  LossLog& losses() { return losses_; }

  /// @param one The file, in a list so that this call allocates nothing.
  void noteFile(std::list<File> one) noexcept;
  std::vector<File> files() const;

  // --- What the user's command is told -----------------------------------------------------------

  /// Passes on an event to WriterOptions::eventCommand.
  void tell(std::string_view event, std::string_view message, std::string_view members = {},
            bool isRare = false);
  /// Passes on a finding to WriterOptions::onFinding and to the command.
  void tell(const CurveFinding& finding);
  /// Passes on the end of the run, once.
  void tellEnd(SessionStatus status) noexcept;
  /// Whether anybody wants to know what is wrong with curves.
  bool judgesCurves() const { return options_.onFinding || command_ != nullptr; }

  // --- Who else writes there ---------------------------------------------------------------------

  /// Shows other processes that the run's directory is in use. Does nothing if it is shown.
  /// @return kFailedPrecondition if another process has it.
  Status claim();
  /// Lets others have it.
  void release();

  // --- Whether there is room ---------------------------------------------------------------------

  MemoryBudget& memory() { return memory_; }
  /// Records that a stream now keeps `to` bytes because of failures, instead of `from`.
  void changeBacklog(std::size_t from, std::size_t to);

  // --- Whether calls do anything -----------------------------------------------------------------

  /// Returns false if calls do nothing: the run is not enabled, or this is a forked child.
  bool isActive() const { return options_.enabled && !disowned_.load(std::memory_order_relaxed); }
  /// Returns whether a scalar call must take the slow path: the run is not active, has a clock
  /// given by the user, or has a backlog over the limit. A single flag, because every scalar reads
  /// it.
  bool needsDetour() const { return detour_.load(std::memory_order_relaxed); }
  /// Deactivates the run in a child made by fork(): nothing may touch the parent's run.
  void disown();

 private:
  const Clock& clock() const { return options_.clock ? *options_.clock : Clock::system(); }
  void updateDetour();

  const std::string directory_;
  // On another cache line than data that the backend writes, because every scalar reads it.
  std::atomic<bool> detour_{false};
  std::atomic<bool> disowned_{false};
  const WriterOptions options_;
  const double startTime_;
  RunCounters counters_;
  Reporter reporter_;
  LossLog losses_;
  MemoryBudget memory_;
  std::unique_ptr<process::EventCommand> command_;  // null: none
  std::atomic<bool> hasToldEnd_{false};
  mutable base::Mutex mutex_;
  std::list<File> files_ STEPTAPE_GUARDED_BY(mutex_);
  std::shared_ptr<process::DirectoryLock> lock_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape::detail::log
