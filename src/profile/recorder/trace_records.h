// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "steptape/base/clock.h"
#include "steptape/profile/trace.h"

#include "process/spans/span_collector.h"

namespace steptape::detail::profile {

/// The process that made a trace.
struct TraceOrigin {
  std::string hostName;
  std::int64_t processId = 0;
  int rank = 0;
  int worldSize = 1;
};

/// The records of a window, kept until they become a trace.
///
/// @threads Not thread-safe: one thread at a time.
class TraceRecords {
 public:
  /// @param maxSpans Keeps this many spans; counts and discards later ones.
  TraceRecords(std::uint64_t startTicks, std::size_t maxSpans)
      : startTicks_(startTicks), stepStartTicks_(startTicks), roomFor_(maxSpans) {}

  /// Keeps spans that began in the window.
  void add(const process::SpanBatch& batch);

  /// Starts the next step at `ticks`: the time before was not recorded.
  void resume(std::uint64_t ticks) { stepStartTicks_ = ticks; }

  /// Ends a step, which started at the end of the previous one, or at resume().
  void endStep(std::int64_t number, std::uint64_t ticks, std::uint64_t threadId);

  /// Returns the trace of a window that ends at `endTicks`.
  ///
  /// @param clockOffsetNanos Nanoseconds to add to this rank's wall time to get the root's.
  Trace build(std::uint64_t endTicks, const TickConverter& converter, const TraceOrigin& origin,
              std::int64_t clockOffsetNanos = 0) const;

 private:
  struct Thread {
    std::uint64_t id;
    int device;
    std::string name;
    std::vector<SpanRecord> records;
  };
  struct Step {
    std::int64_t number;
    std::uint64_t startTicks;
    std::uint64_t endTicks;
    std::uint64_t threadId;
  };

  Thread& thread(const process::SpanBatch& batch);

  std::uint64_t startTicks_;
  std::uint64_t stepStartTicks_;
  std::size_t roomFor_;
  std::uint64_t dropped_ = 0;
  std::vector<Thread> threads_;
  std::vector<Step> steps_;
};

}  // namespace steptape::detail::profile
