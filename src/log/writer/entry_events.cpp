// SPDX-License-Identifier: Apache-2.0
#include "log/writer/entry_events.h"

namespace steptape::detail::log {

void EntryEvents::add(const RingEntry& entry, const NamedSeries& named) {
  const bool isExact = entry.wallTime != RingEntry::kNoWallTime;
  const double wallTime =
      isExact ? RingEntry::wallSeconds(entry.wallTime) : builder_.monotonic(wallTimeOf(entry));
  std::unique_ptr<ScalarSeries>& series = series_[named.id];
  const bool isFirst = series == nullptr;
  if (isFirst) {
    series =
        std::make_unique<ScalarSeries>(named.tag, named.displayName, named.description, named.form);
  }
  if (!builder_.fits(*series, entry.step(), wallTime, isExact)) {
    finishEvent();
    builder_.begin(entry.step(), wallTime, isExact);
  }
  builder_.add(series.get(), entry.value, isFirst);
}

std::string EntryEvents::take() {
  finishEvent();
  return records_.take();
}

double EntryEvents::wallTimeOf(const RingEntry& entry) const {
  const auto ticks = static_cast<std::int64_t>(entry.ticks - times_.ticks);
  return times_.wallSeconds + static_cast<double>(ticks) * times_.nanosPerTick * 1e-9;
}

void EntryEvents::finishEvent() {
  if (builder_.size() > 0) {
    builder_.finish(&records_);
  }
}

}  // namespace steptape::detail::log
