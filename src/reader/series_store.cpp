// SPDX-License-Identifier: Apache-2.0
#include "reader/series_store.h"

#include <algorithm>
#include <utility>

#include "steptape/event/plugin_content.h"

namespace steptape::detail {
namespace {

template <typename Points>
void appendRange(Points* to, const Points& from, std::size_t begin, std::size_t end) {
  to->insert(to->end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
             from.begin() + static_cast<std::ptrdiff_t>(end));
}

template <typename Points>
void eraseAt(Points* from, std::size_t index) {
  from->erase(from->begin() + static_cast<std::ptrdiff_t>(index));
}

void noteErased(TagSeries* series, std::size_t index) {
  if (index < series->firstNew) {
    --series->firstNew;
  }
}

/// REQUIRES: `series` has metadata.
TagBatch::Kind kindOf(const TagSeries& series) {
  return series.metadata.pluginName == event::kScalarsPlugin ? TagBatch::Kind::kScalars
                                                             : TagBatch::Kind::kOther;
}

bool isGraph(const TagSeries& series) {
  return series.metadata.pluginName == kGraphsPlugin ||
         series.metadata.pluginName == kTaggedRunMetadataPlugin;
}

}  // namespace

void SeriesStore::beginUpdate() {
  showUndecided(/*asScalars=*/false);
  for (auto& [tag, series] : tags_) {
    series.firstNew = series.size();
  }
}

void SeriesStore::append(SeriesBatch* batch) {
  for (TagBatch* const tag : batch->touched()) {
    TagSeries* const series = &tags_[tag->tag];
    append(series, tag);
    const bool isPlain = tag->kind == TagBatch::Kind::kScalars && reservoirsOf(series) == nullptr;
    tag->direct = batch->isInOrder() && isPlain ? &series->scalars : nullptr;
  }
  batch->clear();
}

bool SeriesStore::agreesWith(const SeriesBatch& batch) const {
  const std::vector<TagBatch*>& tags = batch.touched();
  return std::all_of(tags.begin(), tags.end(), [&](const TagBatch* tag) {
    const auto series = tags_.find(tag->tag);
    return series == tags_.end() || series->second.metadata.pluginName.empty() ||
           tag->kind == TagBatch::Kind::kUnknown || tag->kind == kindOf(series->second);
  });
}

void SeriesStore::append(TagSeries* series, TagBatch* batch) {
  if (series->metadata.pluginName.empty() && batch->metadata) {
    series->metadata = *batch->metadata;
  }
  const TagBatch::Kind batchKind = batch->kind;
  if (!series->metadata.pluginName.empty()) {
    batch->isDescribed = true;
    if (batch->kind != kindOf(*series)) {
      batch->kind = kindOf(*series);
      batch->form = TagBatch::kNoForm;
    }
  }
  // Numbers that are in both columns are kept in one of them.
  const bool isInBoth = batchKind == TagBatch::Kind::kUnknown;
  const bool wantsScalars = !isInBoth || batch->kind == TagBatch::Kind::kScalars;
  const bool wantsValues = !isInBoth || batch->kind != TagBatch::Kind::kScalars;

  Reservoirs* const reservoirs = reservoirsOf(series);
  if (batch->kind != TagBatch::Kind::kUnknown) {
    settle(series, batch->kind);
  }
  if (reservoirs != nullptr) {
    applyCuts(series);
  }
  ScalarColumns* const columns = wantsScalars            ? &series->scalars
                                 : reservoirs == nullptr ? &undecided_[series].scalars
                                                         : nullptr;
  std::size_t scalars = 0;
  std::size_t values = 0;
  const auto appendUpTo = [&](std::size_t scalarsEnd, std::size_t valuesEnd) {
    if (columns != nullptr) {
      appendScalars(series, columns, reservoirs, batch->scalars, scalars, scalarsEnd);
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

/// Moves numbers that were read before their tag's metadata to the right columns.
void SeriesStore::settle(TagSeries* series, TagBatch::Kind kind) {
  const auto found = undecided_.find(series);
  if (found == undecided_.end()) {
    return;
  }
  if (kind == TagBatch::Kind::kScalars) {
    series->scalars = std::move(found->second.scalars);
    series->values.clear();
    if (const auto cuts = cuts_.find(series); cuts != cuts_.end()) {
      cuts->second.valuesAreScalars();
    }
  }
  undecided_.erase(found);
}

void SeriesStore::appendScalars(TagSeries* series, ScalarColumns* columns, Reservoirs* reservoirs,
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
      noteErased(series, *index);
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
      noteErased(series, *index);
    }
    series->values.push_back(values[i]);
  }
}

void SeriesStore::reserve(double times) {
  for (auto& [tag, series] : tags_) {
    ScalarColumns& columns = series.scalars;
    const auto wanted = static_cast<std::size_t>(times * static_cast<double>(columns.size()));
    const std::size_t has = columns.steps.capacity();
    if (reservoirsOf(&series) == nullptr && wanted > has) {
      // Twice as much, so that several files in sequence do not move all points each time.
      const std::size_t capacity = std::max(wanted, 2 * has);
      columns.wallTimes.reserve(capacity);
      columns.steps.reserve(capacity);
      columns.values.reserve(capacity);
    }
  }
}

void SeriesStore::purgeFrom(std::int64_t step) {
  for (auto& [tag, series] : tags_) {
    purgeFrom(step, &series, reservoirsOf(&series));
  }
}

void SeriesStore::purgeFrom(std::int64_t step, TagSeries* series, Reservoirs* reservoirs) {
  if (isGraph(*series)) {
    return;
  }
  cuts_[series].add(*series, step);
  if (reservoirs != nullptr) {
    // Which points make room depends on the number of points.
    const std::size_t scalarsBefore = series->scalars.size();
    const std::size_t valuesBefore = series->values.size();
    applyCuts(series);
    reservoirs->scalars.purged(scalarsBefore, series->scalars.size());
    reservoirs->values.purged(valuesBefore, series->values.size());
  }
}

void SeriesStore::applyCuts(TagSeries* series) {
  const auto cuts = cuts_.find(series);
  if (cuts == cuts_.end()) {
    return;
  }
  if (const auto found = undecided_.find(series); found != undecided_.end()) {
    cuts->second.applyTo(&found->second.scalars);
  }
  cuts->second.applyTo(series);
  cuts_.erase(cuts);
}

void SeriesStore::endUpdate(bool hasLost) {
  while (!cuts_.empty()) {
    applyCuts(cuts_.begin()->first);
  }
  showUndecided(/*asScalars=*/hasLost);
}

void SeriesStore::showUndecided(bool asScalars) {
  if (std::exchange(showsScalars_, asScalars) == asScalars) {
    return;
  }
  for (auto& [series, other] : undecided_) {
    std::swap(series->scalars, other.scalars);
    std::swap(series->values, other.values);
    series->metadata.pluginName = asScalars ? event::kScalarsPlugin : "";
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
