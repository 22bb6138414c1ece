// SPDX-License-Identifier: Apache-2.0
#include "reader/series_batch.h"

#include <cstdlib>
#include <cstring>
#include <utility>
#include <variant>

#include "steptape/event/event_codec.h"
#include "steptape/event/plugin_data.h"

namespace steptape::detail {
namespace {

// From here on the data is left where it is; below, decoding it tells damage from a value.
constexpr std::size_t kLargePayloadBytes = 4096;

template <typename Number, typename Bits>
double numberOf(Bits bits) {
  static_assert(sizeof(Number) == sizeof(Bits));
  Number number;
  std::memcpy(&number, &bits, sizeof number);
  return double{number};
}

std::optional<double> onlyNumberOf(const Tensor& tensor) {
  const std::string& content = tensor.content;
  if (tensor.type == TensorType::kFloat && content.size() == sizeof(float)) {
    return numberOf<float>(loadLittleEndian32(content.data()));
  }
  if (tensor.type == TensorType::kDouble && content.size() == sizeof(double)) {
    return numberOf<double>(loadLittleEndian64(content.data()));
  }
  return std::nullopt;
}

/// The plugin that shows a legacy value; null for a tensor.
const char* legacyPluginOf(const Value::Data& data) {
  if (std::holds_alternative<float>(data)) {
    return kScalarsPlugin;
  }
  if (std::holds_alternative<LegacyImage>(data)) {
    return kImagesPlugin;
  }
  if (std::holds_alternative<LegacyHistogram>(data)) {
    return kHistogramsPlugin;
  }
  return std::holds_alternative<LegacyAudio>(data) ? kAudioPlugin : nullptr;
}

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

SummaryMetadata decoded(std::string_view bytes) {
  SummaryMetadata metadata;
  // What cannot be decoded is as good as none: the value itself is read all the same.
  static_cast<void>(decodeMetadata(bytes, &metadata));
  return metadata;
}

/// Keeps the metadata of the tag's first value in the stretch, if it has any.
/// @param legacyPlugin The plugin that shows a legacy value, which needs no metadata; else null.
void noteMetadata(TagBatch* batch, SummaryMetadata metadata, const char* legacyPlugin) {
  if (legacyPlugin != nullptr) {
    metadata.pluginName = legacyPlugin;
  }
  batch->metadata = std::move(metadata);
}

void append(ScalarColumns* columns, double wallTime, std::int64_t step, double value) {
  columns->wallTimes.push_back(wallTime);
  columns->steps.push_back(step);
  columns->values.push_back(value);
}

void clearColumns(ScalarColumns* columns) {
  columns->wallTimes.clear();
  columns->steps.clear();
  columns->values.clear();
}

/// "brain.Event:2" is 2.
double versionNumber(const std::string& version) {
  return std::strtod(version.c_str() + version.rfind(':') + 1, nullptr);
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
  where.wallTime = event.wallTime;
  where.step = event.step;
  if (const auto* summary = std::get_if<Summary>(&event.what)) {
    addSummary(*summary, where);
  } else if (const auto* log = std::get_if<SessionLog>(&event.what)) {
    if (log->status == SessionLog::Status::kStart) {
      meaning.kind = EventMeaning::Kind::kRestart;
      meaning.restartStep = event.step;
    }
  } else if (const auto* version = std::get_if<FileVersion>(&event.what)) {
    meaning.kind = EventMeaning::Kind::kFileVersion;
    meaning.fileVersion = versionNumber(version->version);
  } else if (std::holds_alternative<GraphDef>(event.what)) {
    addGraph(kRunGraphTag, kGraphsPlugin, where);
  } else if (std::holds_alternative<MetaGraphDef>(event.what)) {
    addGraph(kMetaGraphTag, kGraphsPlugin, where);
  } else if (const auto* run = std::get_if<TaggedRunMetadata>(&event.what)) {
    addGraph(run->tag, kTaggedRunMetadataPlugin, where);
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
  if (!scalar.isTensor) {
    becomeScalars(batch);
  }
  if (!batch->metadata && (scalar.hasMetadata || !scalar.isTensor)) {
    noteMetadata(batch, scalar.hasMetadata ? decoded(scalar.metadata) : SummaryMetadata(),
                 scalar.isTensor ? nullptr : kScalarsPlugin);
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
      noteMetadata(batch, decoded(value.metadata), legacyPlugin);
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

void SeriesBatch::addSummary(const Summary& summary, ValueLocation where) {
  for (const Value& value : summary.values) {
    addValue(value, where);
    ++where.index;
  }
  latestStep_ = where.step;
}

void SeriesBatch::addValue(const Value& value, const ValueLocation& where) {
  TagBatch* const batch = touch(find(value.tag));
  const char* const legacyPlugin = legacyPluginOf(value.data);
  if (!batch->metadata && (legacyPlugin != nullptr || value.metadata)) {
    noteMetadata(batch, value.metadata.value_or(SummaryMetadata()), legacyPlugin);
  }
  if (goesBack(where.step)) {
    noteStepBack(batch, where);
  }
  const auto* const tensor = std::get_if<Tensor>(&value.data);
  const auto* const simple = std::get_if<float>(&value.data);
  if (simple != nullptr) {
    becomeScalars(batch);
  }
  const std::optional<double> number = simple != nullptr   ? std::optional(double{*simple})
                                       : tensor != nullptr ? onlyNumberOf(*tensor)
                                                           : std::nullopt;
  if (number) {
    addNumber(batch, *number, where);
  } else if (!std::holds_alternative<std::monostate>(value.data) || value.metadata) {
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
  if (batch->kind == TagBatch::Kind::kUnknown) {
    batch->kind = TagBatch::Kind::kOther;
    clearColumns(&batch->scalars);
    for (StepBack& back : batch->stepsBack) {
      back.scalars = 0;
    }
  }
  batch->values.push_back(where);
}

void SeriesBatch::addGraph(std::string tag, const char* plugin, const ValueLocation& where) {
  TagBatch* const batch = touch(find(tag));
  if (!batch->metadata) {
    noteMetadata(batch, {}, plugin);
  }
  addLocation(batch, where);
}

/// Notes that a value is a legacy scalar: what was in both columns leaves the other.
void SeriesBatch::becomeScalars(TagBatch* batch) {
  if (batch->kind != TagBatch::Kind::kUnknown) {
    return;
  }
  batch->kind = TagBatch::Kind::kScalars;
  batch->values.clear();
  for (StepBack& back : batch->stepsBack) {
    back.values = 0;
  }
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
