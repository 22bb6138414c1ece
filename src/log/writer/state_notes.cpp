// SPDX-License-Identifier: Apache-2.0
#include "log/writer/state_notes.h"

#include <algorithm>
#include <exception>

#include "process/blackbox/kept_modules.h"
#include "process/blackbox/process_facts.h"

namespace steptape::detail::log {

void StateNotes::noteState(const SeriesTable& series) noexcept {
  try {
    noteAll(series);
  } catch (const std::exception&) {
    // Out of memory: the next pass notes it.
  }
}

void StateNotes::noteAll(const SeriesTable& series) {
  process::StatePage* const page = process::StatePage::current();
  if (page == nullptr) {
    return;
  }
  if (page != page_) {
    *this = {};
    page_ = page;
  }
  page->noteHeartbeat();
  noteValues(series);
  const auto now = std::chrono::steady_clock::now();
  if (now >= nextMeasurement_) {
    nextMeasurement_ = now + std::chrono::seconds(1);
    page->calibrate();
    page->noteMemory(process::measureMemory());
    process::keepModules(*page);
  }
}

void StateNotes::noteValues(const SeriesTable& series) {
  for (std::size_t i = 0; i < kept_.size();) {
    if (series[kept_[i].series] == nullptr) {
      free_.push_back(kept_[i].place);
      kept_[i] = kept_.back();
      kept_.pop_back();
    } else {
      ++i;
    }
  }
  findPlaces(series);
  const std::int64_t before = lastStep_;
  const bool hadStep = hasStep_;
  for (const Kept& kept : kept_) {
    LastScalar& last = series[kept.series]->last;
    if (last.hasChanged()) {
      const process::TagValues& values = last.take();
      page_->values().note(kept.place, values);
      lastStep_ = hasStep_ ? std::max(lastStep_, values.step) : values.step;
      hasStep_ = true;
    }
  }
  if (hasStep_ && (!hadStep || lastStep_ != before)) {
    page_->noteLoggedStep(lastStep_);
  }
}

void StateNotes::findPlaces(const SeriesTable& series) {
  for (; seen_ < series.size(); ++seen_) {
    if (series[seen_] == nullptr) {
      continue;
    }
    // Room first: a place must not be lost if there is no memory.
    kept_.reserve(kept_.size() + 1);
    const std::string& tag = series[seen_]->series.tag;
    const std::string& directory = series[seen_]->stream->context().directory();
    std::uint32_t place = process::ValueNotes::kNoPlace;
    if (!free_.empty()) {
      place = free_.back();
      free_.pop_back();
      page_->values().replace(place, tag, directory);
    } else {
      place = page_->values().add(tag, directory);
    }
    if (place != process::ValueNotes::kNoPlace) {
      kept_.push_back({seen_, place});
    }
  }
}

}  // namespace steptape::detail::log
