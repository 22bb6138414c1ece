// SPDX-License-Identifier: Apache-2.0
#include "log/reader/run_scan.h"

#include <utility>
#include <variant>

#include "steptape/events/plugin_content.h"

#include "events/messages/event_codec.h"
#include "log/reader/event_values.h"

namespace steptape::detail::log {
namespace {

event::SummaryMetadata metadataOf(const events::ScalarView& scalar) {
  event::SummaryMetadata metadata;
  static_cast<void>(events::decodeMetadata(scalar.metadata, &metadata));
  if (!scalar.isTensor) {
    metadata.pluginName = event::kScalarsPlugin;
  }
  return metadata;
}

}  // namespace

bool takeScalars(std::string_view payload, RunValue* event,
                 std::vector<events::ScalarView>* scalars) {
  events::ScalarEventView view(payload);
  events::ScalarView scalar;
  scalars->clear();
  while (view.next(&scalar)) {
    scalars->push_back(scalar);
  }
  event->wallTime = view.wallTime();
  event->step = view.step();
  return view.isWhole();
}

void RunScan::scan(const std::string& path, ReadProgress* progress) {
  RunFile file(path, /*expectGrowth=*/false);
  const auto number = static_cast<std::uint32_t>(ends_.size());
  progress->beginFile(0);
  if (file.open()) {
    scanRecords(&file, number, progress);
    file.close();
  }
  progress->endFile(file.offset());
  ends_.push_back(file.offset());
  file.appendDamage(&damage_);
  hasPassedDamage_ = hasPassedDamage_ || file.hasPassedDamage();
}

void RunScan::finish() {
  if (!hasPassedDamage_) {
    return;
  }
  event::SummaryMetadata scalars;
  scalars.pluginName = event::kScalarsPlugin;
  for (const RunTag& each : tags_) {
    ScannedTag* const tag = table_.find(each.name);
    if (lacksPlugin(*tag) && tag->isNumbers) {
      setMetadata(tag, scalars);
    }
  }
}

void RunScan::scanRecords(RunFile* file, std::uint32_t number, ReadProgress* progress) {
  for (std::string_view payload; file->next(&payload);) {
    if (file->hasPassedDamage()) {
      rule_.takeDamage();
    }
    const EventPosition position{number, file->recordOffset()};
    progress->reach(position.second);
    if (scanScalars(payload, position)) {
      continue;
    }
    event::Event event;
    if (Status status = events::decodeEvent(payload, &event); status.ok()) {
      scanEvent(std::move(event), position);
    } else {
      file->rejectRecord(status);
    }
  }
}

/// @return false if the event has anything but scalars.
bool RunScan::scanScalars(std::string_view payload, EventPosition position) {
  RunValue event;
  if (!takeScalars(payload, &event, &scalars_)) {
    return false;
  }
  for (const events::ScalarView& scalar : scalars_) {
    ScannedTag* const tag = meet(scalar.tag);
    noteStep(tag, position, event.step);
    const bool saysWhatItIs = scalar.hasMetadata || !scalar.isTensor;
    if (saysWhatItIs && lacksPlugin(*tag)) {
      setMetadata(tag, metadataOf(scalar));
    }
  }
  latestStep_ = event.step;
  return true;
}

void RunScan::scanEvent(event::Event event, EventPosition position) {
  const std::int64_t step = event.step;
  if (const auto* log = std::get_if<event::SessionLog>(&event.what)) {
    if (log->status == event::SessionLog::Status::kStart && rule_.takeStart()) {
      restarts_.add(position, step);
    }
    return;
  }
  if (const auto* version = std::get_if<event::FileVersion>(&event.what)) {
    rule_.takeVersion(hasRestarts(*version));
    return;
  }
  const bool isSummary = std::holds_alternative<event::Summary>(event.what);
  for (const event::Value& value : takeValues(std::move(event))) {
    scanValue(value, position, step);
  }
  if (isSummary) {
    latestStep_ = step;
  }
}

void RunScan::scanValue(const event::Value& value, EventPosition position, std::int64_t step) {
  if (isEmpty(value)) {
    return;
  }
  ScannedTag* const tag = meet(value.tag);
  if (value.metadata && lacksPlugin(*tag)) {
    setMetadata(tag, *value.metadata);
  }
  if (!numberOf(value)) {
    tag->isNumbers = false;
  }
  if (!tag->isGraph) {
    noteStep(tag, position, step);
  }
}

/// @return the tag, which is added if it is new.
ScannedTag* RunScan::meet(std::string_view name) {
  ScannedTag* const tag = table_.find(name);
  if (tag->number == ScannedTag::kNone) {
    tag->number = static_cast<std::uint32_t>(tags_.size());
    tags_.push_back({std::string(name), {}});
  }
  return tag;
}

void RunScan::setMetadata(ScannedTag* tag, event::SummaryMetadata metadata) {
  const std::string& plugin = metadata.pluginName;
  tag->isScalar = plugin == event::kScalarsPlugin;
  tag->isGraph = plugin == kGraphsPlugin || plugin == kTaggedRunMetadataPlugin;
  tags_[tag->number].metadata = std::move(metadata);
}

void RunScan::noteStep(ScannedTag* tag, EventPosition position, std::int64_t step) {
  if (rule_.watchesSteps() && step < latestStep_) {
    tag->stepsBack.add(position, step);
  }
}

}  // namespace steptape::detail::log
