// SPDX-License-Identifier: Apache-2.0
#include "log/writer/loss_log.h"

#include <new>

namespace steptape::detail::log {

LossLog::LossLog(const std::string& directory, RunCounters* counters, Reporter* reporter)
    : tooFast_(ErrorCode::kResourceExhausted,
               "points of " + directory + " are being dropped: the disk is slower than the calls"),
      outOfMemory_(ErrorCode::kResourceExhausted,
                   "points of " + directory + " are being dropped: out of memory"),
      counters_(counters),
      reporter_(reporter) {}

void LossLog::count(std::uint64_t scalars, std::uint64_t values) noexcept {
  counters_->droppedScalars.add(scalars);
  counters_->droppedValues.add(values);
}

void LossLog::countDropped(std::uint64_t scalars, std::uint64_t values) noexcept {
  if (scalars + values == 0) {
    return;
  }
  count(scalars, values);
  if (!dropReported_.exchange(true, std::memory_order_relaxed)) {
    reporter_->report(tooFast_);
  }
}

void LossLog::countLost(const std::exception& error, std::uint64_t scalars,
                        std::uint64_t values) noexcept {
  count(scalars, values);
  if (dynamic_cast<const std::bad_alloc*>(&error) == nullptr) {
    try {
      reporter_->report(
          {ErrorCode::kResourceExhausted,
           std::string("a value could not be encoded and was dropped: ") + error.what()});
      return;
    } catch (const std::bad_alloc&) {
      // Reported below.
    }
  }
  if (!memoryReported_.exchange(true, std::memory_order_relaxed)) {
    reporter_->report(outOfMemory_);
  }
}

void LossLog::beginEpisode() {
  dropReported_.store(false, std::memory_order_relaxed);
  memoryReported_.store(false, std::memory_order_relaxed);
}

}  // namespace steptape::detail::log
