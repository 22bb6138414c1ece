// SPDX-License-Identifier: Apache-2.0
#include "reader/series_store.h"

#include <algorithm>
#include <sys/mman.h>
#include <utility>

#include "steptape/event/plugin_data.h"

namespace steptape::detail {
namespace {

template <typename T>
void appendRange(std::vector<T>* to, const std::vector<T>& from, std::size_t begin,
                 std::size_t end) {
  to->insert(to->end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
             from.begin() + static_cast<std::ptrdiff_t>(end));
}

/// Reserves memory in large pages where the system has them: a page fault costs more than decoding
/// the points that fit into a small page.
template <typename T>
void reserveLarge(std::vector<T>* column, std::size_t capacity) {
  column->reserve(capacity);
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t kHugePageBytes = 2 << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(column->data());
  const std::uintptr_t firstPage = (begin + kHugePageBytes - 1) & ~(kHugePageBytes - 1);
  const std::uintptr_t end = begin + column->capacity() * sizeof(T);
  if (end > firstPage + kHugePageBytes) {
    // Only advice: that it fails means that there are none.
    madvise(reinterpret_cast<void*>(firstPage), end - firstPage, MADV_HUGEPAGE);
  }
#endif
}

template <typename T>
void eraseAt(std::vector<T>* from, std::size_t index) {
  from->erase(from->begin() + static_cast<std::ptrdiff_t>(index));
}

/// Keeps the elements whose step is before `step`; `steps` are theirs.
template <typename T>
void keepBefore(std::int64_t step, const std::vector<std::int64_t>& steps, std::vector<T>* column) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] < step) {
      (*column)[kept++] = (*column)[i];
    }
  }
  column->resize(kept);
}

void purgeScalars(std::int64_t step, ScalarColumns* scalars) {
  const std::vector<std::int64_t>& steps = scalars->steps;
  if (std::none_of(steps.begin(), steps.end(), [=](std::int64_t each) { return each >= step; })) {
    return;
  }
  keepBefore(step, steps, &scalars->wallTimes);
  keepBefore(step, steps, &scalars->values);
  scalars->steps.erase(std::remove_if(scalars->steps.begin(), scalars->steps.end(),
                                      [=](std::int64_t each) { return each >= step; }),
                       scalars->steps.end());
}

bool isGraph(const TagSeries& series) {
  return series.metadata.pluginName == kGraphsPlugin ||
         series.metadata.pluginName == kTaggedRunMetadataPlugin;
}

}  // namespace

void SeriesStore::append(SeriesBatch* batch) {
  for (TagBatch* const tag : batch->touched()) {
    append(tag);
  }
  batch->clear();
}

void SeriesStore::append(TagBatch* batch) {
  TagSeries* const series = &tags_[batch->tag];
  if (series->metadata.pluginName.empty() && batch->metadata) {
    series->metadata = *batch->metadata;
  }
  const TagBatch::Kind batchKind = batch->kind;
  if (series->metadata.pluginName == kScalarsPlugin) {
    batch->kind = TagBatch::Kind::kScalars;
  } else if (!series->metadata.pluginName.empty()) {
    batch->kind = TagBatch::Kind::kOther;
  }
  // Of numbers that are in both columns, one is kept.
  const bool isInBoth = batchKind == TagBatch::Kind::kUnknown;
  const bool wantsScalars = !isInBoth || batch->kind == TagBatch::Kind::kScalars;
  const bool wantsValues = !isInBoth || batch->kind != TagBatch::Kind::kScalars;

  Reservoirs* const reservoirs = reservoirsOf(series);
  if (batch->kind != TagBatch::Kind::kUnknown) {
    settle(series, batch->kind);
  }
  ScalarColumns* const columns = wantsScalars            ? &series->scalars
                                 : reservoirs == nullptr ? &undecided_[series]
                                                         : nullptr;
  std::size_t scalars = 0;
  std::size_t values = 0;
  const auto appendUpTo = [&](std::size_t scalarsEnd, std::size_t valuesEnd) {
    if (columns != nullptr) {
      appendScalars(columns, reservoirs, batch->scalars, scalars, scalarsEnd);
    }
    if (wantsValues) {
      appendValues(series, reservoirs, batch->values, values, valuesEnd);
    }
    scalars = scalarsEnd;
    values = valuesEnd;
  };
  for (const StepBack& back : batch->stepsBack) {
    appendUpTo(back.scalars, back.values);
    purgeFrom(back.step, series, reservoirs);
  }
  appendUpTo(batch->scalars.size(), batch->values.size());
}

/// Moves numbers that were read before their tag's metadata to where they belong by now.
void SeriesStore::settle(TagSeries* series, TagBatch::Kind kind) {
  const auto found = undecided_.find(series);
  if (found == undecided_.end()) {
    return;
  }
  if (kind == TagBatch::Kind::kScalars) {
    series->scalars = std::move(found->second);
    series->values.clear();
  }
  undecided_.erase(found);
}

void SeriesStore::appendScalars(ScalarColumns* columns, Reservoirs* reservoirs,
                                const ScalarColumns& scalars, std::size_t begin, std::size_t end) {
  ScalarColumns& kept = *columns;
  if (reservoirs == nullptr) {
    appendRange(&kept.wallTimes, scalars.wallTimes, begin, end);
    appendRange(&kept.steps, scalars.steps, begin, end);
    appendRange(&kept.values, scalars.values, begin, end);
    return;
  }
  for (std::size_t i = begin; i < end; ++i) {
    if (const auto index = reservoirs->scalars.makeRoom(kept.size())) {
      eraseAt(&kept.wallTimes, *index);
      eraseAt(&kept.steps, *index);
      eraseAt(&kept.values, *index);
    }
    kept.wallTimes.push_back(scalars.wallTimes[i]);
    kept.steps.push_back(scalars.steps[i]);
    kept.values.push_back(scalars.values[i]);
  }
}

void SeriesStore::appendValues(TagSeries* series, Reservoirs* reservoirs,
                               const std::vector<ValueLocation>& values, std::size_t begin,
                               std::size_t end) {
  if (reservoirs == nullptr) {
    appendRange(&series->values, values, begin, end);
    return;
  }
  for (std::size_t i = begin; i < end; ++i) {
    if (const auto index = reservoirs->values.makeRoom(series->values.size())) {
      eraseAt(&series->values, *index);
    }
    series->values.push_back(values[i]);
  }
}

void SeriesStore::reserve(double times) {
  for (auto& [tag, series] : tags_) {
    if (reservoirsOf(&series) == nullptr && series.scalars.size() > 0) {
      const auto capacity =
          static_cast<std::size_t>(times * static_cast<double>(series.scalars.size()));
      reserveLarge(&series.scalars.wallTimes, capacity);
      reserveLarge(&series.scalars.steps, capacity);
      reserveLarge(&series.scalars.values, capacity);
    }
  }
}

void SeriesStore::purgeFrom(std::int64_t step) {
  for (auto& [tag, series] : tags_) {
    if (!isGraph(series)) {
      purgeFrom(step, &series, reservoirsOf(&series));
    }
  }
}

void SeriesStore::purgeFrom(std::int64_t step, TagSeries* series, Reservoirs* reservoirs) {
  const std::size_t scalarsBefore = series->scalars.size();
  const std::size_t valuesBefore = series->values.size();
  purgeScalars(step, &series->scalars);
  if (const auto found = undecided_.find(series); found != undecided_.end()) {
    purgeScalars(step, &found->second);
  }
  series->values.erase(
      std::remove_if(series->values.begin(), series->values.end(),
                     [=](const ValueLocation& value) { return value.step >= step; }),
      series->values.end());
  if (reservoirs != nullptr) {
    reservoirs->scalars.purged(scalarsBefore, series->scalars.size());
    reservoirs->values.purged(valuesBefore, series->values.size());
  }
}

/// @return null if all points of the series are kept.
SeriesStore::Reservoirs* SeriesStore::reservoirsOf(const TagSeries* series) {
  if (isGraph(*series)) {
    return nullptr;
  }
  const auto limit = sampling_.maxPoints.find(series->metadata.pluginName);
  const std::size_t maxPoints =
      limit == sampling_.maxPoints.end() ? sampling_.otherMaxPoints : limit->second;
  if (maxPoints == 0) {
    return nullptr;
  }
  return &reservoirs_.try_emplace(series, Reservoirs{Reservoir(maxPoints), Reservoir(maxPoints)})
              .first->second;
}

}  // namespace steptape::detail
