// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "steptape/events/event.h"

#include "base/mutex.h"
#include "log/writer/event_stream.h"
#include "log/writer/last_scalar.h"
#include "log/writer/scalar_series.h"

namespace steptape::detail::log {

/// A scalar series, with the stream that writes its points.
struct RegisteredSeries {
  RegisteredSeries(EventStream* itsStream, std::string tag, std::string displayName,
                   std::string description, ValueForm itsForm)
      : stream(itsStream),
        form(itsForm),
        series(std::move(tag), std::move(displayName), std::move(description), itsForm) {}

  /// Calls EventStream::addScalar(); only for the backend.
  void add(float value, std::int64_t step, double wallTime, bool exact) noexcept {
    last.add(value, step, wallTime);
    stream->addScalar(&series, value, step, wallTime, exact);
  }

  EventStream* const stream;
  const ValueForm form;
  ScalarSeries series;
  LastScalar last;
};

/// All series of the process by number, as in the rings' entries. A number is never reused, and 0
/// is not a series.
///
/// @threads add() is thread-safe. Everything else is only for the backend thread.
class SeriesTable {
 public:
  SeriesTable() : series_(1) {}

  /// Adds a series, which takeNew() makes known.
  /// @return its number
  std::uint32_t add(std::unique_ptr<RegisteredSeries> series) {
    base::MutexLock lock(mutex_);
    new_.push_back(std::move(series));
    return ++last_;
  }
  /// @throws std::bad_alloc, and may be called again.
  void takeNew() {
    base::MutexLock lock(mutex_);
    while (!new_.empty()) {
      series_.push_back(std::move(new_.front()));
      new_.pop_front();
    }
  }

  /// Returns 1 + the largest known number.
  std::size_t size() const { return series_.size(); }
  /// Returns null for 0, and for a series whose writer no longer exists.
  RegisteredSeries* operator[](std::size_t number) const { return series_[number].get(); }
  /// Removes the series of a run.
  void remove(const RunContext& context) noexcept {
    for (auto& series : series_) {
      if (series && &series->stream->context() == &context) {
        series.reset();
      }
    }
  }

 private:
  base::Mutex mutex_;
  std::deque<std::unique_ptr<RegisteredSeries>> new_ STEPTAPE_GUARDED_BY(mutex_);
  std::uint32_t last_ STEPTAPE_GUARDED_BY(mutex_) = 0;
  std::vector<std::unique_ptr<RegisteredSeries>> series_;
};

}  // namespace steptape::detail::log
