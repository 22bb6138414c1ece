// SPDX-License-Identifier: Apache-2.0
#include "log/reader/series_batch.h"

#include <string>
#include <utility>
#include <variant>

#include "steptape/events/plugin_content.h"

#include "events/messages/event_codec.h"
#include "events/messages/large_value_view.h"
#include "events/messages/summary_event.h"
#include "events/messages/wire_cursor.h"
#include "log/reader/event_values.h"

namespace steptape::detail::log {
namespace {

// Larger data is not decoded here; smaller data is decoded, to distinguish damage from a value.
constexpr std::size_t kLargePayloadBytes = 4096;

TagBatch::Kind kindOfPlugin(const std::string& plugin) {
  return plugin == event::kScalarsPlugin ? TagBatch::Kind::kScalars : TagBatch::Kind::kOther;
}

const char* pluginOfField(events::WireKey data) {
  switch (data) {
    case events::kImageKey:
      return event::kImagesPlugin;
    case events::kHistogramKey:
      return event::kHistogramsPlugin;
    case events::kAudioKey:
      return event::kAudioPlugin;
    default:
      return nullptr;
  }
}

/// @param bytes       Empty if the value has no metadata.
/// @param fieldPlugin The plugin that the field of a value implies; null for a tensor.
event::SummaryMetadata decoded(std::string_view bytes, const char* fieldPlugin) {
  event::SummaryMetadata metadata;
  // Metadata that cannot be decoded counts as missing; the value itself is still read.
  static_cast<void>(events::decodeMetadata(bytes, &metadata));
  if (fieldPlugin != nullptr) {
    metadata.pluginName = fieldPlugin;
  }
  return metadata;
}

void clearColumns(ScalarColumns* columns) {
  columns->wallTimes.clear();
  columns->steps.clear();
  columns->values.clear();
}

/// Keeps the first metadata of the tag that names a plugin; until then, any metadata.
void noteMetadata(TagBatch* batch, event::SummaryMetadata metadata) {
  if (!metadata.pluginName.empty()) {
    batch->setPlugin(metadata.pluginName);
  }
  batch->metadata = std::move(metadata);
}

/// Finds the values of a plugin other than the tag's first one.
///
/// @param plugin      The plugin that a value names; empty: none.
/// @param metadataOf  () → metadata of the value
/// @return null if the value belongs to the tag's first plugin.
template <typename MetadataOf>
OtherBatch* otherOf(TagBatch* batch, std::string_view plugin, const MetadataOf& metadataOf) {
  if (plugin.empty() || batch->plugin.empty() || plugin == batch->plugin) {
    return nullptr;
  }
  for (OtherBatch& other : batch->others) {
    if (other.metadata.pluginName == plugin) {
      return &other;
    }
  }
  if (batch->others.size() == kMostOtherPlugins) {
    return nullptr;
  }
  OtherBatch& other = batch->others.emplace_back();
  other.metadata = metadataOf();
  other.valuesAtBack.resize(batch->stepsBack.size());
  return &other;
}

void append(ScalarColumns* columns, double wallTime, std::int64_t step, double value) {
  columns->wallTimes.push_back(wallTime);
  columns->steps.push_back(step);
  columns->values.push_back(value);
}

}  // namespace

/// The first settled kind is final. Numbers that were in both columns are removed from the other
/// column.
void TagBatch::settle(Kind settled) {
  if (kind != Kind::kUnknown) {
    return;
  }
  kind = settled;
  if (kind == Kind::kScalars) {
    values.clear();
  } else {
    clearColumns(&scalars);
  }
  for (StepBack& back : stepsBack) {
    (kind == Kind::kScalars ? back.values : back.scalars) = 0;
  }
}

/// The plugin decides the kind of later values, even if earlier ones have led to another guess.
void TagBatch::setPlugin(const std::string& name) {
  plugin = name;
  const Kind decided = kindOfPlugin(name);
  settle(decided);
  kind = decided;
}

void TagBatch::follow(const std::string& known) {
  if (known.empty()) {
    return;
  }
  plugin = known;
  if (kind != kindOfPlugin(known)) {
    kind = kindOfPlugin(known);
    form = kNoForm;
  }
}

bool TagBatch::agreesWith(const std::string& known) const {
  if (known.empty() || kind == Kind::kUnknown) {
    return true;
  }
  return lacksPlugin() ? kind == kindOfPlugin(known) : plugin == known;
}

EventMeaning SeriesBatch::add(std::string_view payload, ValueLocation where) {
  EventMeaning meaning;
  if (addScalars(payload, where.offset, where.file)) {
    return meaning;
  }
  where.bytes = payload.size();
  if (payload.size() >= kLargePayloadBytes && addLargeValues(payload, where)) {
    return meaning;
  }
  event::Event event;
  meaning.status = events::decodeEvent(payload, &event);
  if (!meaning.status.ok()) {
    meaning.kind = EventMeaning::Kind::kNoEvent;
    return meaning;
  }
  times_.add(event.wallTime);
  if (const auto* log = std::get_if<event::SessionLog>(&event.what)) {
    meaning.wallTime = event.wallTime;
    if (log->status == event::SessionLog::Status::kStart) {
      meaning.kind = EventMeaning::Kind::kRestart;
      meaning.restartStep = event.step;
    }
  } else if (const auto* version = std::get_if<event::FileVersion>(&event.what)) {
    meaning.kind = EventMeaning::Kind::kFileVersion;
    meaning.wallTime = event.wallTime;
    meaning.hasRestarts = hasRestarts(*version);
  } else {
    where.wallTime = event.wallTime;
    where.step = event.step;
    if (!addValues(std::move(event), where)) {
      meaning.wallTime = where.wallTime;
    }
  }
  return meaning;
}

bool SeriesBatch::addNewScalars(std::string_view payload, std::uint64_t offset,
                                std::uint32_t file) {
  events::ScalarEventView event(payload);
  newScalars_.clear();
  for (NewScalar scalar; event.next(&scalar.view);) {
    scalar.form = event.form();
    newScalars_.push_back(scalar);
  }
  if (!event.isWhole()) {
    return false;
  }
  ValueLocation where{event.wallTime(), event.step(), offset, payload.size(), file, 0};
  for (const NewScalar& scalar : newScalars_) {
    addScalar(scalar, where);
    ++where.index;
  }
  latestStep_ = where.step;
  times_.add(where.wallTime);
  return true;
}

/// Fast path: programs log the same tags in the same order at every step. Their form, the bytes
/// between the numbers, is then the same, too.
///
/// @return false if anything is new; nothing is then added.
bool SeriesBatch::addKnownScalars(std::string_view payload) {
  events::SummaryEvent event;
  if (watchesSteps_ || !event.take(payload)) {
    return false;
  }
  TagBatch* last = tags_.last();
  for (events::WireCursor look = event.values; !look.isAtEnd();) {
    last = last->successor;
    if (!look.skipFloat32(last->form)) {
      return false;
    }
  }
  last = tags_.last();
  for (events::WireCursor values = event.values; !values.isAtEnd();) {
    last = last->successor;
    addKnown(last, event.wallTime, event.step, values.takeFloat32(last->form));
  }
  tags_.setLast(last);
  latestStep_ = event.step;
  times_.add(event.wallTime);
  return true;
}

inline void SeriesBatch::addKnown(TagBatch* batch, double wallTime, std::int64_t step,
                                  float value) {
  ScalarColumns* target = batch->target;
  if (target == nullptr) {
    target = &touch(batch)->scalars;
  }
  append(target, wallTime, step, double{value});
  ++points_;
}

void SeriesBatch::addScalar(const NewScalar& scalar, const ValueLocation& where) {
  const events::ScalarView& view = scalar.view;
  TagBatch* const batch = touch(tags_.find(view.tag));
  const auto metadata = [&] {
    return decoded(view.metadata, view.isTensor ? nullptr : event::kScalarsPlugin);
  };
  if (batch->lacksPlugin() && (view.hasMetadata || !view.isTensor)) {
    noteMetadata(batch, metadata());
  }
  if (goesBack(where.step)) {
    noteStepBack(batch, where);
  }
  if (batch->kind == TagBatch::Kind::kScalars) {
    addOnlyScalar(batch, double{view.value}, where);
    if (!batch->lacksPlugin() && !scalar.form.empty()) {
      batch->form = scalar.form;
    }
    return;
  }
  const std::string_view plugin =
      view.isTensor ? events::pluginNameIn(view.metadata) : event::kScalarsPlugin;
  if (plugin == event::kScalarsPlugin) {
    addOnlyScalar(batch, double{view.value}, where);
  } else if (OtherBatch* const other = otherOf(batch, plugin, metadata)) {
    addOther(other, where);
  } else {
    addNumber(batch, double{view.value}, where);
  }
}

/// @return false if the event has anything else; nothing is then added.
bool SeriesBatch::addLargeValues(std::string_view payload, ValueLocation where) {
  events::LargeValuesView event(payload);
  std::vector<events::LargeValueView> values;
  for (events::LargeValueView value; event.next(&value);) {
    values.push_back(value);
  }
  if (!event.isWhole()) {
    return false;
  }
  where.wallTime = event.wallTime();
  where.step = event.step();
  times_.add(where.wallTime);
  for (const events::LargeValueView& value : values) {
    TagBatch* const batch = touch(tags_.find(value.tag));
    const char* const fieldPlugin = pluginOfField(value.data);
    const auto metadata = [&] { return decoded(value.metadata, fieldPlugin); };
    if (batch->lacksPlugin() && (fieldPlugin != nullptr || value.hasMetadata)) {
      noteMetadata(batch, metadata());
    }
    if (goesBack(where.step)) {
      noteStepBack(batch, where);
    }
    const std::string_view plugin =
        fieldPlugin != nullptr ? fieldPlugin : events::pluginNameIn(value.metadata);
    if (OtherBatch* const other = otherOf(batch, plugin, metadata)) {
      addOther(other, where);
    } else {
      addLocation(batch, where);
    }
    ++where.index;
  }
  latestStep_ = where.step;
  return true;
}

/// @return whether it has any.
bool SeriesBatch::addValues(event::Event event, ValueLocation where) {
  const bool isSummary = std::holds_alternative<event::Summary>(event.what);
  for (const event::Value& value : takeValues(std::move(event))) {
    addValue(value, where);
    ++where.index;
  }
  if (isSummary) {
    latestStep_ = where.step;
  }
  return where.index > 0;
}

void SeriesBatch::addValue(const event::Value& value, const ValueLocation& where) {
  if (isEmpty(value)) {
    return;
  }
  TagBatch* const batch = touch(tags_.find(value.tag));
  if (goesBack(where.step)) {
    noteStepBack(batch, where);
  }
  if (batch->lacksPlugin() && value.metadata) {
    noteMetadata(batch, *value.metadata);
  }
  const std::optional<double> number = numberOf(value);
  const std::string_view plugin = value.metadata ? value.metadata->pluginName : std::string_view();
  const bool isScalar = batch->kind == TagBatch::Kind::kScalars || plugin == event::kScalarsPlugin;
  if (number && (isScalar || batch->kind == TagBatch::Kind::kUnknown)) {
    batch->isRounded = batch->isRounded || isRounded(value);
  }
  if (number && isScalar) {
    addOnlyScalar(batch, *number, where);
  } else if (OtherBatch* const other = otherOf(batch, plugin, [&] { return *value.metadata; })) {
    addOther(other, where);
  } else if (number) {
    addNumber(batch, *number, where);
  } else {
    addLocation(batch, where);
  }
}

void SeriesBatch::addOnlyScalar(TagBatch* batch, double number, const ValueLocation& where) {
  ++points_;
  append(&batch->scalars, where.wallTime, where.step, number);
}

/// Adds a number of a tag that is not known to be a scalar series.
void SeriesBatch::addNumber(TagBatch* batch, double number, const ValueLocation& where) {
  ++points_;
  if (batch->kind == TagBatch::Kind::kUnknown) {
    append(&batch->scalars, where.wallTime, where.step, number);
  }
  batch->values.push_back(where);
}

/// Adds a value that is not a number: a tag without a plugin is then not a scalar series.
void SeriesBatch::addLocation(TagBatch* batch, const ValueLocation& where) {
  ++points_;
  batch->settle(TagBatch::Kind::kOther);
  batch->values.push_back(where);
}

void SeriesBatch::addOther(OtherBatch* other, const ValueLocation& where) {
  ++points_;
  other->values.push_back(where);
}

/// Records one decreasing step per event, even if it has several values of the tag.
void SeriesBatch::noteStepBack(TagBatch* batch, const ValueLocation& where) {
  const std::vector<StepBack>& all = batch->stepsBack;
  if (all.empty() || all.back().file != where.file || all.back().offset != where.offset) {
    batch->stepsBack.push_back(
        {batch->scalars.size(), batch->values.size(), where.step, where.offset, where.file});
    for (OtherBatch& other : batch->others) {
      other.valuesAtBack.push_back(other.values.size());
    }
  }
}

TagBatch* SeriesBatch::touch(TagBatch* batch) {
  if (!batch->isTouched) {
    batch->isTouched = true;
    batch->target = &batch->scalars;
    touched_.push_back(batch);
    if (batch->lacksPlugin() && firstPlugin_) {
      if (const std::string known = firstPlugin_(batch->tag); !known.empty()) {
        batch->setPlugin(known);
      }
    }
  }
  return batch;
}

void SeriesBatch::learnFrom(const SeriesBatch& other) {
  for (const TagBatch& known : other.tags_.entries()) {
    TagBatch* const batch = tags_.find(known.tag);
    batch->kind = known.kind;
    batch->plugin = known.plugin;
    batch->form = known.form;
  }
}

void SeriesBatch::reset() {
  tags_.clear();
  touched_.clear();
  points_ = 0;
  latestStep_ = -1;
  times_ = {};
}

void SeriesBatch::releasePoints() {
  for (TagBatch& batch : tags_.entries()) {
    batch.scalars = ScalarColumns();
    batch.values = std::vector<ValueLocation>();
  }
}

void SeriesBatch::clear() {
  for (TagBatch* const batch : touched_) {
    batch->metadata.reset();
    clearColumns(&batch->scalars);
    batch->values.clear();
    batch->others.clear();
    batch->stepsBack.clear();
    batch->isRounded = false;
    batch->isTouched = false;
    batch->target = batch->direct;
  }
  touched_.clear();
  points_ = 0;
}

}  // namespace steptape::detail::log
