// SPDX-License-Identifier: Apache-2.0
#include "reader/series_batch.h"

#include <utility>
#include <variant>

#include "steptape/event/event_codec.h"
#include "steptape/event/plugin_data.h"

#include "reader/event_values.h"

namespace steptape::detail {
namespace {

// From here on the data is left where it is; below, decoding it tells damage from a value.
constexpr std::size_t kLargePayloadBytes = 4096;

const char* legacyPluginOf(WireKey data) {
  switch (data) {
    case kImageKey:
      return kImagesPlugin;
    case kHistogramKey:
      return kHistogramsPlugin;
    case kAudioKey:
      return kAudioPlugin;
    default:
      return nullptr;
  }
}

/// @param bytes        Empty if the value has no metadata.
/// @param legacyPlugin The plugin that shows a legacy value, which needs no metadata; else null.
SummaryMetadata decoded(std::string_view bytes, const char* legacyPlugin) {
  SummaryMetadata metadata;
  // What cannot be decoded is as good as none: the value itself is read all the same.
  static_cast<void>(decodeMetadata(bytes, &metadata));
  if (legacyPlugin != nullptr) {
    metadata.pluginName = legacyPlugin;
  }
  return metadata;
}

void clearColumns(ScalarColumns* columns) {
  columns->wallTimes.clear();
  columns->steps.clear();
  columns->values.clear();
}

/// Settles what the tag's values are: the numbers that were in both columns leave the other.
void settleKind(TagBatch* batch, TagBatch::Kind kind) {
  if (batch->kind != TagBatch::Kind::kUnknown) {
    return;
  }
  batch->kind = kind;
  if (kind == TagBatch::Kind::kScalars) {
    batch->values.clear();
  } else {
    clearColumns(&batch->scalars);
  }
  for (StepBack& back : batch->stepsBack) {
    (kind == TagBatch::Kind::kScalars ? back.values : back.scalars) = 0;
  }
}

/// Keeps the metadata of the tag's first value in the stretch.
void noteMetadata(TagBatch* batch, SummaryMetadata metadata) {
  if (!metadata.pluginName.empty()) {
    settleKind(batch, metadata.pluginName == kScalarsPlugin ? TagBatch::Kind::kScalars
                                                            : TagBatch::Kind::kOther);
  }
  batch->metadata = std::move(metadata);
}

void append(ScalarColumns* columns, double wallTime, std::int64_t step, double value) {
  columns->wallTimes.push_back(wallTime);
  columns->steps.push_back(step);
  columns->values.push_back(value);
}

}  // namespace

EventMeaning SeriesBatch::add(std::string_view payload, ValueLocation where) {
  EventMeaning meaning;
  if (addScalars(payload, where.offset, where.file)) {
    return meaning;
  }
  where.bytes = payload.size();
  if (payload.size() >= kLargePayloadBytes && addLargeValues(payload, where)) {
    return meaning;
  }
  Event event;
  meaning.status = decodeEvent(payload, &event);
  if (!meaning.status.ok()) {
    meaning.kind = EventMeaning::Kind::kNoEvent;
    return meaning;
  }
  if (const auto* log = std::get_if<SessionLog>(&event.what)) {
    if (log->status == SessionLog::Status::kStart) {
      meaning.kind = EventMeaning::Kind::kRestart;
      meaning.restartStep = event.step;
    }
  } else if (const auto* version = std::get_if<FileVersion>(&event.what)) {
    meaning.kind = EventMeaning::Kind::kFileVersion;
    meaning.hasRestarts = hasRestarts(*version);
  } else {
    where.wallTime = event.wallTime;
    where.step = event.step;
    addValues(std::move(event), where);
  }
  return meaning;
}

bool SeriesBatch::addScalars(std::string_view payload, std::uint64_t offset, std::uint32_t file) {
  ScalarEventView event(payload);
  scalars_.clear();
  // Filled in place: to copy a struct that was just written in pieces stalls the processor.
  while (!event.isAtEnd() && findScalar(&event, &scalars_.emplace_back())) {
  }
  if (!event.isWhole()) {
    return false;
  }
  std::uint32_t index = 0;
  for (const FoundScalar& scalar : scalars_) {
    TagBatch* const batch = touch(scalar.batch);
    const bool isPlain = !scalar.hasMetadata && (scalar.isTensor || batch->metadata);
    if (batch->kind == TagBatch::Kind::kScalars && isPlain && !watchesSteps_) {
      append(&batch->scalars, event.wallTime(), event.step(), double{scalar.value});
      ++points_;
    } else {
      addScalar(scalar, {event.wallTime(), event.step(), offset, payload.size(), file, index});
    }
    ++index;
  }
  latestStep_ = event.step();
  return true;
}

inline bool SeriesBatch::findScalar(ScalarEventView* event, FoundScalar* found) {
  // Programs log the same tags in the same order at every step, and in the same form.
  TagBatch* const expected = last_->successor;
  if (!event->nextOfForm(expected->form, &found->value)) {
    return findScalarOfNewForm(event, found);
  }
  last_ = expected;
  found->batch = expected;
  found->isTensor = expected->isFormOfTensor;
  found->hasMetadata = false;
  return true;
}

bool SeriesBatch::findScalarOfNewForm(ScalarEventView* event, FoundScalar* found) {
  ScalarView scalar;
  if (!event->next(&scalar)) {
    return false;
  }
  TagBatch* const batch = find(scalar.tag);
  if (!event->form().empty()) {
    batch->form = event->form();
    batch->isFormOfTensor = scalar.isTensor;
  }
  *found = {batch, scalar.value, scalar.isTensor, scalar.hasMetadata, scalar.metadata};
  return true;
}

void SeriesBatch::addScalar(const FoundScalar& scalar, const ValueLocation& where) {
  TagBatch* const batch = scalar.batch;
  if (!batch->metadata && (scalar.hasMetadata || !scalar.isTensor)) {
    noteMetadata(batch, decoded(scalar.hasMetadata ? scalar.metadata : std::string_view(),
                                scalar.isTensor ? nullptr : kScalarsPlugin));
  }
  if (!scalar.isTensor) {
    settleKind(batch, TagBatch::Kind::kScalars);
  }
  if (goesBack(where.step)) {
    noteStepBack(batch, where);
  }
  addNumber(batch, double{scalar.value}, where);
}

/// @return false if the event is something else; nothing is then taken.
bool SeriesBatch::addLargeValues(std::string_view payload, ValueLocation where) {
  LargeValuesView event(payload);
  std::vector<LargeValueView> values;
  for (LargeValueView value; event.next(&value);) {
    values.push_back(value);
  }
  if (!event.isWhole()) {
    return false;
  }
  where.wallTime = event.wallTime();
  where.step = event.step();
  for (const LargeValueView& value : values) {
    TagBatch* const batch = touch(find(value.tag));
    const char* const legacyPlugin = legacyPluginOf(value.data);
    if (!batch->metadata && (legacyPlugin != nullptr || value.hasMetadata)) {
      noteMetadata(batch,
                   decoded(value.hasMetadata ? value.metadata : std::string_view(), legacyPlugin));
    }
    if (goesBack(where.step)) {
      noteStepBack(batch, where);
    }
    addLocation(batch, where);
    ++where.index;
  }
  latestStep_ = where.step;
  return true;
}

void SeriesBatch::addValues(Event event, ValueLocation where) {
  const bool isSummary = std::holds_alternative<Summary>(event.what);
  for (Value& value : takeValues(std::move(event))) {
    addValue(std::move(value), where);
    ++where.index;
  }
  if (isSummary) {
    latestStep_ = where.step;
  }
}

void SeriesBatch::addValue(Value value, const ValueLocation& where) {
  if (isEmpty(value)) {
    return;
  }
  TagBatch* const batch = touch(find(value.tag));
  if (goesBack(where.step)) {
    noteStepBack(batch, where);
  }
  if (!batch->metadata && value.metadata) {
    noteMetadata(batch, *std::move(value.metadata));
  }
  if (std::holds_alternative<float>(value.data)) {
    settleKind(batch, TagBatch::Kind::kScalars);
  }
  if (const std::optional<double> number = numberOf(value)) {
    addNumber(batch, *number, where);
  } else {
    addLocation(batch, where);
  }
}

void SeriesBatch::addNumber(TagBatch* batch, double number, const ValueLocation& where) {
  ++points_;
  if (batch->kind != TagBatch::Kind::kOther) {
    append(&batch->scalars, where.wallTime, where.step, number);
  }
  if (batch->kind != TagBatch::Kind::kScalars) {
    batch->values.push_back(where);
  }
}

/// Takes a value that is no number: its tag is then no series of scalars.
void SeriesBatch::addLocation(TagBatch* batch, const ValueLocation& where) {
  ++points_;
  settleKind(batch, TagBatch::Kind::kOther);
  batch->values.push_back(where);
}

/// An event goes back but once, also where it has several values of the tag.
void SeriesBatch::noteStepBack(TagBatch* batch, const ValueLocation& where) {
  const std::vector<StepBack>& all = batch->stepsBack;
  if (all.empty() || all.back().file != where.file || all.back().offset != where.offset) {
    batch->stepsBack.push_back(
        {batch->scalars.size(), batch->values.size(), where.step, where.offset, where.file});
  }
}

TagBatch* SeriesBatch::find(std::string_view tag) {
  auto known = tags_.find(tag);
  if (known == tags_.end()) {
    auto batch = std::make_unique<TagBatch>();
    batch->tag = tag;
    batch->successor = batch.get();
    const std::string_view name = batch->tag;
    known = tags_.emplace(name, std::move(batch)).first;
  }
  last_->successor = known->second.get();
  return last_ = last_->successor;
}

TagBatch* SeriesBatch::touch(TagBatch* batch) {
  if (!batch->isTouched) {
    batch->isTouched = true;
    touched_.push_back(batch);
  }
  return batch;
}

void SeriesBatch::clear() {
  for (TagBatch* const batch : touched_) {
    batch->metadata.reset();
    clearColumns(&batch->scalars);
    batch->values.clear();
    batch->stepsBack.clear();
    batch->isTouched = false;
  }
  touched_.clear();
  points_ = 0;
}

}  // namespace steptape::detail
