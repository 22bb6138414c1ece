// SPDX-License-Identifier: Apache-2.0
#include "log/reader/series_store.h"

#include <algorithm>
#include <list>
#include <optional>
#include <utility>

#include "steptape/events/plugin_content.h"

namespace steptape::detail::log {
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

void noteErased(std::size_t index, std::size_t* firstNew) {
  if (index < *firstNew) {
    --*firstNew;
  }
}

bool isGraph(const TagSeries& series) {
  return series.metadata.pluginName == kGraphsPlugin ||
         series.metadata.pluginName == kTaggedRunMetadataPlugin;
}

}  // namespace

std::string SeriesStore::firstPlugin(const std::string& tag) const {
  const auto series = tags_.find(tag);
  return series == tags_.end() ? std::string() : series->second.metadata.pluginName;
}

void SeriesStore::beginUpdate(const std::vector<std::string>& /*files*/) {
  showUndecided(/*asScalars=*/false);
  for (auto& [tag, series] : tags_) {
    series.firstNewScalar = series.scalars.size();
    series.firstNewValue = series.values.size();
    for (TagSeries& other : series.others) {
      other.firstNewValue = other.values.size();
    }
  }
}

void SeriesStore::append(SeriesBatch* batch) {
  for (TagBatch* const tag : batch->touched()) {
    TagSeries* const series = &tags_[tag->tag];
    append(series, tag);
    const bool isPlain = tag->kind == TagBatch::Kind::kScalars && keepsAllScalars(series);
    tag->direct = batch->isInOrder() && isPlain ? &series->scalars : nullptr;
  }
  batch->clear();
}

bool SeriesStore::agreesWith(const SeriesBatch& batch) const {
  const std::vector<TagBatch*>& tags = batch.touched();
  return std::all_of(tags.begin(), tags.end(), [&](const TagBatch* tag) {
    const auto series = tags_.find(tag->tag);
    return series == tags_.end() || tag->agreesWith(series->second.metadata.pluginName);
  });
}

void SeriesStore::append(TagSeries* series, TagBatch* batch) {
  if (series->metadata.pluginName.empty() && batch->metadata) {
    series->metadata = *batch->metadata;
  }
  series->isRounded = series->isRounded || batch->isRounded;
  const TagBatch::Kind batchKind = batch->kind;
  batch->follow(series->metadata.pluginName);
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
  const bool keepsAllValues = reservoirs == nullptr || !reservoirs->values;
  ScalarColumns* const columns = wantsScalars     ? &series->scalars
                                 : keepsAllValues ? &undecided_[series].scalars
                                                  : nullptr;
  std::vector<OtherValues> others = othersOf(series, *batch);
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
  for (std::size_t i = 0; i < batch->stepsBack.size(); ++i) {
    const StepBack& back = batch->stepsBack[i];
    appendUpTo(back.scalars, back.values);
    appendOthers(&others, i);
    purgeAll(back.step, series);
  }
  appendUpTo(batch->scalars.size(), batch->values.size());
  appendOthers(&others, std::nullopt);
}

/// Finds or adds the series of the further plugins in `batch`. Values of a plugin beyond the limit
/// are appended to the series of the tag itself.
std::vector<SeriesStore::OtherValues> SeriesStore::othersOf(TagSeries* series,
                                                            const TagBatch& batch) {
  std::vector<OtherValues> found;
  for (const OtherBatch& other : batch.others) {
    std::list<TagSeries>& all = series->others;
    const auto known = std::find_if(all.begin(), all.end(), [&](const TagSeries& each) {
      return each.metadata.pluginName == other.metadata.pluginName;
    });
    if (known != all.end()) {
      found.push_back({&*known, &other});
    } else if (all.size() < kMostOtherPlugins) {
      all.emplace_back().metadata = other.metadata;
      found.push_back({&all.back(), &other});
    } else {
      found.push_back({series, &other});
    }
  }
  return found;
}

/// @param back Appends the values up to this one of the batch's decreasing steps; none: all.
void SeriesStore::appendOthers(std::vector<OtherValues>* others, std::optional<std::size_t> back) {
  for (OtherValues& other : *others) {
    const std::vector<ValueLocation>& values = other.batch->values;
    const std::size_t end = back ? other.batch->valuesAtBack[*back] : values.size();
    Reservoirs* const reservoirs = reservoirsOf(other.series);
    if (reservoirs != nullptr) {
      applyCuts(other.series);
    }
    appendValues(other.series, reservoirs, values, other.appended, end);
    other.appended = end;
  }
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
    series->firstNewScalar = std::exchange(series->firstNewValue, 0);
    if (const auto cuts = cuts_.find(series); cuts != cuts_.end()) {
      cuts->second.valuesAreScalars();
    }
  }
  undecided_.erase(found);
}

void SeriesStore::appendScalars(TagSeries* series, ScalarColumns* columns, Reservoirs* reservoirs,
                                const ScalarColumns& scalars, std::size_t begin, std::size_t end) {
  ScalarColumns& kept = *columns;
  if (reservoirs == nullptr || !reservoirs->scalars) {
    appendRange(&kept.wallTimes, scalars.wallTimes, begin, end);
    appendRange(&kept.steps, scalars.steps, begin, end);
    appendRange(&kept.values, scalars.values, begin, end);
    return;
  }
  for (std::size_t i = begin; i < end; ++i) {
    if (const auto index = reservoirs->scalars->makeRoom(kept.size())) {
      eraseAt(&kept.wallTimes, *index);
      eraseAt(&kept.steps, *index);
      eraseAt(&kept.values, *index);
      noteErased(*index, &series->firstNewScalar);
    }
    kept.wallTimes.push_back(scalars.wallTimes[i]);
    kept.steps.push_back(scalars.steps[i]);
    kept.values.push_back(scalars.values[i]);
  }
}

void SeriesStore::appendValues(TagSeries* series, Reservoirs* reservoirs,
                               const std::vector<ValueLocation>& values, std::size_t begin,
                               std::size_t end) {
  if (reservoirs == nullptr || !reservoirs->values) {
    appendRange(&series->values, values, begin, end);
    return;
  }
  for (std::size_t i = begin; i < end; ++i) {
    if (const auto index = reservoirs->values->makeRoom(series->values.size())) {
      eraseAt(&series->values, *index);
      noteErased(*index, &series->firstNewValue);
    }
    series->values.push_back(values[i]);
  }
}

std::size_t SeriesStore::scalars() const {
  std::size_t count = 0;
  for (const auto& [tag, series] : tags_) {
    count += series.scalars.size();
  }
  return count;
}

void SeriesStore::reserve(double times) {
  for (auto& [tag, series] : tags_) {
    ScalarColumns& columns = series.scalars;
    const auto wanted = static_cast<std::size_t>(times * static_cast<double>(columns.size()));
    const std::size_t has = columns.steps.capacity();
    if (wanted > has && keepsAllScalars(&series)) {
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
    purgeAll(step, &series);
  }
}

/// Discards the points of all kinds under a tag at `step` or later.
void SeriesStore::purgeAll(std::int64_t step, TagSeries* series) {
  if (isGraph(*series)) {
    return;
  }
  purgeFrom(step, series, reservoirsOf(series));
  for (TagSeries& other : series->others) {
    purgeFrom(step, &other, reservoirsOf(&other));
  }
}

void SeriesStore::purgeFrom(std::int64_t step, TagSeries* series, Reservoirs* reservoirs) {
  cuts_[series].add(*series, step);
  if (reservoirs != nullptr) {
    // Which points make room depends on the number of points.
    const std::size_t scalarsBefore = series->scalars.size();
    const std::size_t valuesBefore = series->values.size();
    applyCuts(series);
    if (reservoirs->scalars) {
      reservoirs->scalars->purged(scalarsBefore, series->scalars.size());
    }
    if (reservoirs->values) {
      reservoirs->values->purged(valuesBefore, series->values.size());
    }
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
    std::swap(series->firstNewScalar, series->firstNewValue);
    series->metadata.pluginName = asScalars ? event::kScalarsPlugin : "";
  }
}

/// @return the limit for a plugin; 0: none.
std::size_t SeriesStore::mostPoints(const std::string& plugin) const {
  const auto limit = sampling_.maxPoints.find(plugin);
  return limit == sampling_.maxPoints.end() ? sampling_.otherMaxPoints : limit->second;
}

/// @return null if all points of the series are kept.
SeriesStore::Reservoirs* SeriesStore::reservoirsOf(const TagSeries* series) {
  if (isGraph(*series)) {
    return nullptr;
  }
  const std::string& plugin = series->metadata.pluginName;
  const std::size_t mostValues = mostPoints(plugin);
  // Numbers of a tag without a plugin are sampled like its values, because they may be either.
  const std::size_t mostScalars = plugin.empty() ? mostValues : mostPoints(event::kScalarsPlugin);
  if (mostScalars == 0 && mostValues == 0) {
    return nullptr;
  }
  const auto reservoirOf = [](std::size_t limit) {
    return limit == 0 ? std::nullopt : std::optional<Reservoir>(limit);
  };
  if (const auto found = reservoirs_.find(series); found != reservoirs_.end()) {
    return &found->second;
  }
  return &reservoirs_.emplace(series, Reservoirs{reservoirOf(mostScalars), reservoirOf(mostValues)})
              .first->second;
}

bool SeriesStore::keepsAllScalars(const TagSeries* series) {
  const Reservoirs* const reservoirs = reservoirsOf(series);
  return reservoirs == nullptr || !reservoirs->scalars;
}

}  // namespace steptape::detail::log
