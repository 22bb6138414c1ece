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

void noteMetadata(TagBatch* batch, SummaryMetadata metadata) {
  if (!batch->metadata) {
    batch->metadata = std::move(metadata);
  }
}

/// "brain.Event:2" is 2.
double versionNumber(const std::string& version) {
  return std::strtod(version.c_str() + version.rfind(':') + 1, nullptr);
}

}  // namespace

EventMeaning SeriesBatch::add(std::string_view payload, ValueLocation where) {
  EventMeaning meaning;
  where.bytes = payload.size();
  if (addScalars(payload, where)) {
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

/// @return false if the event is more than scalars; nothing is then taken.
bool SeriesBatch::addScalars(std::string_view payload, const ValueLocation& where) {
  ScalarEventView event(payload);
  ScalarView scalar;
  scalars_.clear();
  while (event.next(&scalar)) {
    scalars_.push_back(scalar);
  }
  if (!event.isWhole()) {
    return false;
  }
  ValueLocation location = where;
  location.wallTime = event.wallTime();
  location.step = event.step();
  for (const ScalarView& each : scalars_) {
    addScalar(each, location);
    ++location.index;
  }
  latestStep_ = event.step();
  return true;
}

void SeriesBatch::addScalar(const ScalarView& scalar, const ValueLocation& where) {
  TagBatch* const batch = touch(find(scalar.tag));
  if (!scalar.isTensor) {
    batch->kind = TagBatch::Kind::kScalars;
  }
  if (!batch->metadata && (scalar.hasMetadata || !scalar.isTensor)) {
    SummaryMetadata metadata;
    static_cast<void>(decodeMetadata(scalar.metadata, &metadata));
    if (!scalar.isTensor) {
      metadata.pluginName = kScalarsPlugin;
    }
    noteMetadata(batch, std::move(metadata));
  }
  if (goesBack(where.step)) {
    noteStepBack(batch, where.step);
  }
  addNumber(batch, double{scalar.value}, where);
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
  if (legacyPlugin != nullptr || value.metadata) {
    SummaryMetadata metadata = value.metadata.value_or(SummaryMetadata());
    if (legacyPlugin != nullptr) {
      metadata.pluginName = legacyPlugin;
    }
    noteMetadata(batch, std::move(metadata));
  }
  if (goesBack(where.step)) {
    noteStepBack(batch, where.step);
  }
  const auto* const tensor = std::get_if<Tensor>(&value.data);
  const auto* const simple = std::get_if<float>(&value.data);
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
    batch->scalars.wallTimes.push_back(where.wallTime);
    batch->scalars.steps.push_back(where.step);
    batch->scalars.values.push_back(number);
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
    batch->scalars = {};
    for (StepBack& back : batch->stepsBack) {
      back.scalars = 0;
    }
  }
  batch->values.push_back(where);
}

void SeriesBatch::addGraph(std::string tag, const char* plugin, const ValueLocation& where) {
  TagBatch* const batch = touch(find(tag));
  SummaryMetadata metadata;
  metadata.pluginName = plugin;
  noteMetadata(batch, std::move(metadata));
  addLocation(batch, where);
}

void SeriesBatch::noteStepBack(TagBatch* batch, std::int64_t step) {
  batch->stepsBack.push_back({batch->scalars.size(), batch->values.size(), step});
}

TagBatch* SeriesBatch::find(std::string_view tag) {
  // Programs log the same tags in the same order at every step.
  if (!successor_.empty()) {
    const std::uint32_t expected = successor_[last_];
    if (tags_[expected].tag == tag) {
      last_ = expected;
      return &tags_[expected];
    }
  }
  const auto known = numberOf_.find(tag);
  std::uint32_t number;
  if (known != numberOf_.end()) {
    number = known->second;
  } else {
    number = static_cast<std::uint32_t>(tags_.size());
    tags_.emplace_back();
    tags_.back().tag = tag;
    numberOf_.emplace(tags_.back().tag, number);
    successor_.push_back(0);
  }
  successor_[last_] = number;
  last_ = number;
  return &tags_[number];
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
    batch->scalars.wallTimes.clear();
    batch->scalars.steps.clear();
    batch->scalars.values.clear();
    batch->values.clear();
    batch->stepsBack.clear();
    batch->isTouched = false;
  }
  touched_.clear();
  points_ = 0;
}

}  // namespace steptape::detail
