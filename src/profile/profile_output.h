// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "steptape/base/mutex.h"
#include "steptape/base/status.h"
#include "steptape/profile/profiler.h"
#include "steptape/writer/summary_writer.h"

#include "profile/task_thread.h"
#include "profile/window_recorder.h"

namespace steptape::detail {

/// Writes finished windows where a profiler's options say, on a thread of its own.
///
/// @threads Thread-safe, but for construction and destruction.
class ProfileOutput {
 public:
  /// @throws Error(kIoError) if the log directory cannot be written.
  explicit ProfileOutput(const ProfilerOptions& options);
  /// Returns once all is written.
  ~ProfileOutput() = default;
  ProfileOutput(const ProfileOutput&) = delete;
  ProfileOutput& operator=(const ProfileOutput&) = delete;

  /// @param window What finished.
  void write(FinishedWindow window, const TraceOrigin& origin);

  /// Tells of what cannot be recorded, unless it was told of before; does nothing if it is empty.
  void reportOnce(const std::string& what);

  /// Returns once everything is written. @return the first failure since the last call.
  Status flush();

 private:
  void writeNow(const FinishedWindow& window, const TraceOrigin& origin);
  void callOnTrace(const Trace& trace, SummaryWriter* writer, std::int64_t step);
  void writeTrace(const Trace& trace, const WindowStart& start);
  void note(const Status& status);
  void report(const Status& status) const;

  const ProfilerOptions options_;
  std::optional<SummaryWriter> ownWriter_;
  Mutex mutex_;
  Status failure_ STEPTAPE_GUARDED_BY(mutex_);
  std::set<std::string> reported_ STEPTAPE_GUARDED_BY(mutex_);
  TaskThread thread_;  // last: its tasks use all of the above
};

}  // namespace steptape::detail
