// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "steptape/base/status.h"
#include "steptape/log/summary_writer.h"
#include "steptape/profile/profiler.h"
#include "steptape/profile/trace.h"
#include "steptape/profile/trace_summary.h"

#include "base/mutex.h"
#include "profile/recorder/profile_session_directory.h"
#include "profile/recorder/rank_exchange.h"
#include "profile/recorder/task_thread.h"
#include "profile/recorder/window_recorder.h"

namespace steptape::detail::profile {

/// Writes finished windows as a profiler's options specify, on a thread that all profilers of the
/// process share. Windows are written one after the other, in the order in which they finish.
///
/// @threads Thread-safe, except construction and destruction.
class ProfileOutput {
 public:
  /// @param exchange Receives this rank's results for each window; may be null.
  /// @throws Error(kIoError) if the log directory cannot be written.
  ProfileOutput(const ProfilerOptions& options, RankExchange* exchange);
  /// Returns once everything is written, also by the other ranks; waits only briefly for those.
  ~ProfileOutput();
  ProfileOutput(const ProfileOutput&) = delete;
  ProfileOutput& operator=(const ProfileOutput&) = delete;

  /// Writes a finished window.
  void write(FinishedWindow window, const TraceOrigin& origin);

  /// Logs the results of all ranks.
  void write(RankExchange::Window window);

  /// Records that a window was lost for lack of memory.
  void lose() noexcept;

  /// Reports what cannot be recorded, once per text; ignores an empty text.
  void reportOnce(const std::string& what);

  /// Returns once everything is written.
  void finish() { thread_->finish(); }
  /// Calls finish().
  /// @return the first failure since the last call.
  Status flush();

 private:
  void process(const FinishedWindow& window, const TraceOrigin& origin);
  std::optional<Trace> traceOf(const FinishedWindow& window, const TraceOrigin& origin) const;
  RankProfile rankProfileOf(const FinishedWindow& window, const std::optional<Trace>& trace) const;
  void writeNow(const FinishedWindow& window, const std::optional<Trace>& trace);
  void writeNow(const RankExchange::Window& window);
  void callOnTrace(const Trace& trace, std::int64_t step);
  void writeTrace(const Trace& trace, const WindowStart& start);
  SummaryWriter* writer() { return ownWriter_ ? &*ownWriter_ : options_.writer; }
  OpTableOptions tableOptions() const;
  bool wantsFiles() const;
  /// Runs a task that may fail, for example for lack of memory; records the failure.
  template <typename Task>
  void attempt(const Task& task) noexcept;
  void noteCaught(const std::exception& error) noexcept;
  void note(const Status& status) noexcept;
  void report(const Status& status) const noexcept;

  const ProfilerOptions options_;
  // Made early: there is no memory when it is needed.
  const Status outOfMemory_{ErrorCode::kResourceExhausted,
                            "cannot write the profile: out of memory"};
  RankExchange* const exchange_;
  ProfileSessionDirectory sessions_;
  std::optional<SummaryWriter> ownWriter_;
  base::Mutex mutex_;
  Status failure_ STEPTAPE_GUARDED_BY(mutex_);
  std::set<std::string> reported_ STEPTAPE_GUARDED_BY(mutex_);
  const std::shared_ptr<TaskThread> thread_;
};

}  // namespace steptape::detail::profile
