// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "steptape/profile/trace.h"

#include "profile/trace/perfetto/perfetto_sequence.h"
#include "profile/trace/perfetto/perfetto_slices.h"
#include "profile/trace/trace_text.h"

namespace steptape::detail::profile {

/// Writes the tracks and events of one process:
///
///     train (process 4242)           facts, and the end of the window
///     ├─ main (thread 4242)          spans that nest
///     ├─ steps
///     ├─ overlapping spans           spans with kDetached; a track for each that is open at once
///     ├─ GPU 0
///     │  └─ stream 7
///     └─ memory of cpu allocated     a counter; so are those of the trace
class PerfettoProcessWriter {
 public:
  /// @param name As viewers show it; see fileProcessNames().
  PerfettoProcessWriter(const Trace& trace, std::string name, std::int64_t processId,
                        PerfettoFileState* file, TraceText* text);

  void write();

 private:
  void writeProcess();
  void writeDevices();
  void writeNested(std::size_t thread);
  void writeDetached(std::size_t thread);
  void writeSteps(std::size_t thread);
  void writeCounters();

  void findFlows();
  PerfettoFlow flowAt(std::size_t thread, std::size_t span) const;

  std::uint64_t newTrack() { return ++file_->lastTrack; }
  std::string threadDescriptor(std::size_t thread) const;
  std::string overlapDescriptor(std::uint64_t uuid, std::size_t thread) const;
  std::int64_t unixNanos(std::int64_t time) const { return trace_.originNanos + time; }

  const Trace& trace_;
  const std::string name_;
  const std::int64_t processId_;
  PerfettoFileState* const file_;
  TraceText* const text_;
  std::uint64_t processTrack_;
  std::map<int, std::uint64_t> deviceTracks_;
  std::vector<std::uint64_t> threadTracks_;
  /// Of each span of each thread, see flowAt(); empty for a thread without arrows.
  std::vector<std::vector<std::uint32_t>> flows_;
  std::uint64_t firstFlow_;
};

}  // namespace steptape::detail::profile
