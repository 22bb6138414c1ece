// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "steptape/log/writer_options.h"

#include "base/mutex.h"
#include "log/writer/event_file.h"
#include "log/writer/event_stream.h"
#include "log/writer/run_context.h"

namespace steptape::detail::log {

/// A run from the backend's view: the streams of its directory and of its sub-runs, with their
/// shared state.
///
/// @threads Thread-safe, but only the backend may use the streams.
class RunStreams {
 public:
  /// Makes the run's event file if it is enabled.
  /// @param openFiles Outlives the run, as `log`.
  /// @throws Error(kIoError) if the directory or the file cannot be made.
  RunStreams(std::string directory, WriterOptions options, OpenFiles* openFiles, KillProofLog* log);

  RunContext& context() { return context_; }
  const RunContext& context() const { return context_; }

  /// Returns the stream of the run's own directory.
  EventStream* mainStream() const { return mainStream_; }
  /// Returns the stream of `directory`; the first call creates it.
  EventStream* subRunStream(const std::string& directory);
  /// Returns all streams, the main one first. The pointers are valid as long as the run.
  std::vector<EventStream*> streams();

 private:
  RunContext context_;
  OpenFiles* const openFiles_;
  KillProofLog* const log_;
  EventStream* mainStream_ = nullptr;  // set by the constructor
  mutable base::Mutex mutex_;
  std::deque<EventStream> streams_ STEPTAPE_GUARDED_BY(mutex_);
  std::unordered_map<std::string, EventStream*> subRuns_ STEPTAPE_GUARDED_BY(mutex_);
};

}  // namespace steptape::detail::log
