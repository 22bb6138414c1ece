// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "process/spans/span_collector.h"

namespace steptape::detail::profile {

/// Records that were drained from the threads' rings, until their time is reached.
///
/// @threads Not thread-safe: one thread at a time.
class DrainedRecords {
 public:
  void add(const process::SpanBatch& batch);
  void clear() { batches_.clear(); }
  /// Counts the records as unrecorded, and clears them.
  void lose();

  /// Passes on the records up to a time, in batches.
  void takeUntil(std::uint64_t ticks, const std::function<void(const process::SpanBatch&)>& take);
  /// Keeps the memory of records that were taken for later ones.
  void recycle();

 private:
  /// Of a thread.
  struct Batch {
    std::uint64_t threadId;
    std::string threadName;
    std::vector<SpanRecord> records;
    std::size_t next = 0;
    std::uint64_t dropped;
  };

  std::vector<Batch> batches_;
  std::vector<std::vector<SpanRecord>> spares_;
};

}  // namespace steptape::detail::profile
