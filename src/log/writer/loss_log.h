// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <string>

#include "steptape/base/status.h"

#include "log/writer/reporter.h"
#include "log/writer/run_counters.h"

namespace steptape::detail::log {

/// Counts what a run loses, and reports each cause once until beginEpisode().
///
/// @threads Thread-safe.
class LossLog {
 public:
  /// @param counters Must outlive this object, like `reporter`.
  LossLog(const std::string& directory, RunCounters* counters, Reporter* reporter);

  /// Counts points for which there was no room.
  void countDropped(std::uint64_t scalars, std::uint64_t values) noexcept;
  /// Counts points that could not be encoded because of `error`, most often because of lack of
  /// memory.
  void countLost(const std::exception& error, std::uint64_t scalars, std::uint64_t values) noexcept;

  /// Lets each cause be reported again.
  void beginEpisode();

  /// Returns the result of a request for which there was no memory.
  const Status& outOfMemory() const { return outOfMemory_; }

 private:
  void count(std::uint64_t scalars, std::uint64_t values) noexcept;

  // Made early, because there may be no memory later.
  const Status tooFast_;
  const Status outOfMemory_;
  RunCounters* const counters_;
  Reporter* const reporter_;
  std::atomic<bool> dropReported_{false};
  std::atomic<bool> memoryReported_{false};
};

}  // namespace steptape::detail::log
