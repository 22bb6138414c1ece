// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <string>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/writer/writer_options.h"

#include "base/mutex.h"
#include "writer/loss_log.h"
#include "writer/memory_budget.h"
#include "writer/reporter.h"
#include "writer/run_counters.h"

namespace steptape::detail {

/// What the callers, the backend and the streams of one run share. It knows none of them: a stream
/// sees no more of its owner than this.
///
/// @threads Thread-safe.
class RunContext {
 public:
  /// An event file of the run, and the directory it is in.
  struct File {
    std::string path;
    std::string directory;
  };

  RunContext(std::string directory, WriterOptions options);

  const std::string& directory() const { return directory_; }
  const WriterOptions& options() const { return options_; }
  double wallSeconds() const { return clock().wallSeconds(); }
  /// When the writer was made, in seconds since 1970.
  double startTime() const { return startTime_; }

  // --- What the run has done, and what went wrong ------------------------------------------------

  RunCounters& counters() { return counters_; }
  Reporter& reporter() { return reporter_; }
  LossLog& losses() { return losses_; }

  /// @param one The file, in a list of its own so that nothing is allocated here.
  void noteFile(std::list<File> one) noexcept;
  std::vector<File> files() const;

  // --- Whether there is room ---------------------------------------------------------------------

  MemoryBudget& memory() { return memory_; }
  /// A stream keeps `to` bytes because of failures, where it kept `from`.
  void changeBacklog(std::size_t from, std::size_t to);

  // --- Whether calls do anything -----------------------------------------------------------------

  /// False for a run whose calls do nothing: not enabled, or a forked child's.
  bool isActive() const { return options_.enabled && !disowned_.load(std::memory_order_relaxed); }
  /// Whether a scalar call must look closer: the run is not active, has a clock of the user's, or a
  /// backlog over the limit. One flag for all of it, since every scalar asks.
  bool needsDetour() const { return detour_.load(std::memory_order_relaxed); }
  /// In a child made by fork(): nothing may touch the parent's run.
  void disown();

 private:
  const Clock& clock() const { return options_.clock ? *options_.clock : Clock::system(); }
  void updateDetour();

  const std::string directory_;
  // Away from what the backend writes, since callers read it with every scalar.
  std::atomic<bool> detour_{false};
  std::atomic<bool> disowned_{false};
  const WriterOptions options_;
  const double startTime_;
  RunCounters counters_;
  Reporter reporter_;
  LossLog losses_;
  MemoryBudget memory_;
  mutable Mutex mutex_;
  std::list<File> files_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape::detail
