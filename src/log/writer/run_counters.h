// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "steptape/log/writer_options.h"

namespace steptape::detail::log {

/// A counter that any thread may increase; it does not order other memory accesses.
class Counter {
 public:
  void add(std::uint64_t by) { value_.fetch_add(by, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// The counters of WriterStats for one run.
struct RunCounters {
  Counter scalars;
  Counter values;
  Counter events;
  Counter bytesWritten;
  Counter files;
  Counter droppedScalars;
  Counter droppedValues;
  Counter retries;
  Counter stepRegressions;

  WriterStats stats() const {
    WriterStats stats;
    stats.scalars = scalars.value();
    stats.values = values.value();
    stats.events = events.value();
    stats.bytesWritten = bytesWritten.value();
    stats.files = files.value();
    stats.droppedScalars = droppedScalars.value();
    stats.droppedValues = droppedValues.value();
    stats.retries = retries.value();
    stats.stepRegressions = stepRegressions.value();
    return stats;
  }
};

}  // namespace steptape::detail::log
