// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/drained_records.h"

#include <algorithm>
#include <utility>

#include "process/spans/recorder_registry.h"

namespace steptape::detail::profile {

void DrainedRecords::add(const process::SpanBatch& batch) {
  std::vector<SpanRecord> records;
  if (!spares_.empty()) {
    records = std::move(spares_.back());
    spares_.pop_back();
  }
  records.assign(batch.records.begin(), batch.records.end());
  batches_.push_back({batch.threadId, batch.threadName, std::move(records), 0, batch.dropped});
}

void DrainedRecords::lose() {
  for (const Batch& batch : batches_) {
    process::RecorderRegistry::instance().countUnrecorded(batch.records.size() - batch.next +
                                                          batch.dropped);
  }
  clear();
}

void DrainedRecords::takeUntil(std::uint64_t ticks,
                               const std::function<void(const process::SpanBatch&)>& take) {
  for (Batch& batch : batches_) {
    const std::size_t first = batch.next;
    while (batch.next < batch.records.size() && batch.records[batch.next].ticks() <= ticks) {
      ++batch.next;
    }
    const process::SpanBatch taken{
        batch.threadId, batch.threadName,
        ArrayView<const SpanRecord>(batch.records.data() + first, batch.next - first),
        batch.dropped};
    if (!taken.records.empty() || taken.dropped != 0) {
      batch.dropped = 0;
      take(taken);
    }
  }
}

void DrainedRecords::recycle() {
  constexpr std::size_t kMaxSpares = 8;
  const auto isDone = [](const Batch& batch) {
    return batch.next == batch.records.size() && batch.dropped == 0;
  };
  for (Batch& batch : batches_) {
    if (isDone(batch) && spares_.size() < kMaxSpares) {
      spares_.push_back(std::move(batch.records));
      batch.records.clear();
      batch.next = 0;
    }
  }
  batches_.erase(std::remove_if(batches_.begin(), batches_.end(), isDone), batches_.end());
}

}  // namespace steptape::detail::profile
