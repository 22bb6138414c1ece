// SPDX-License-Identifier: Apache-2.0
#include "reader/run_scan.h"

#include <utility>
#include <variant>

#include "steptape/event/event_codec.h"
#include "steptape/event/plugin_data.h"

#include "reader/event_values.h"
#include "reader/run_file.h"

namespace steptape::detail {
namespace {

constexpr std::uint64_t kProgressBytes = std::uint64_t{8} << 20;

SummaryMetadata metadataOf(const ScalarView& scalar) {
  SummaryMetadata metadata;
  static_cast<void>(decodeMetadata(scalar.metadata, &metadata));
  if (!scalar.isTensor) {
    metadata.pluginName = kScalarsPlugin;
  }
  return metadata;
}

}  // namespace

bool takeScalars(std::string_view payload, RunValue* event, std::vector<ScalarView>* scalars) {
  ScalarEventView view(payload);
  ScalarView scalar;
  scalars->clear();
  while (view.next(&scalar)) {
    scalars->push_back(scalar);
  }
  event->wallTime = view.wallTime();
  event->step = view.step();
  return view.isWhole();
}

void RunScan::scan(const std::string& path, const std::function<void(std::uint64_t)>& progress) {
  RunFile file(path, /*mayGrow=*/false);
  const auto number = static_cast<std::uint32_t>(ends_.size());
  std::uint64_t nextProgress = 0;
  if (file.open()) {
    for (std::string_view payload; file.next(&payload);) {
      if (!knowsVersion_ && file.hasPassedDamage()) {
        // The version may be what was damaged, and every writer since 2015 gives the same.
        knowsVersion_ = true;
        watchesSteps_ = false;
      }
      const EventPosition position{number, file.recordOffset()};
      if (position.second >= nextProgress) {
        progress(position.second);
        nextProgress = position.second + kProgressBytes;
      }
      if (scanScalars(payload, position)) {
        continue;
      }
      Event event;
      if (Status status = decodeEvent(payload, &event); status.ok()) {
        scanEvent(std::move(event), position);
      } else {
        file.rejectRecord(status);
      }
    }
    file.close();
  }
  ends_.push_back(file.offset());
  file.appendDamage(&damage_);
}

/// @return false if the event is more than scalars.
bool RunScan::scanScalars(std::string_view payload, EventPosition position) {
  RunValue event;
  if (!takeScalars(payload, &event, &scalars_)) {
    return false;
  }
  for (const ScalarView& scalar : scalars_) {
    const std::uint32_t tag = meet(scalar.tag);
    noteStep(tag, position, event.step);
    const bool saysWhatItIs = scalar.hasMetadata || !scalar.isTensor;
    if (saysWhatItIs && lacksPlugin(tag)) {
      setMetadata(tag, metadataOf(scalar));
    }
  }
  latestStep_ = event.step;
  return true;
}

void RunScan::scanEvent(Event event, EventPosition position) {
  const std::int64_t step = event.step;
  if (const auto* log = std::get_if<SessionLog>(&event.what)) {
    if (log->status == SessionLog::Status::kStart && !watchesSteps_) {
      restart(position, step);
    }
    return;
  }
  if (const auto* version = std::get_if<FileVersion>(&event.what)) {
    watchesSteps_ = purge_ != PurgePolicy::kNone && !hasRestarts(*version);
    knowsVersion_ = true;
    return;
  }
  const bool isSummary = std::holds_alternative<Summary>(event.what);
  for (const Value& value : takeValues(std::move(event))) {
    scanValue(value, position, step);
  }
  if (isSummary) {
    latestStep_ = step;
  }
}

void RunScan::scanValue(const Value& value, EventPosition position, std::int64_t step) {
  const std::uint32_t tag = meet(value.tag);
  if (value.metadata && lacksPlugin(tag)) {
    setMetadata(tag, *value.metadata);
  }
  if (!states_[tag].isGraph) {
    noteStep(tag, position, step);
  }
}

void RunScan::restart(EventPosition position, std::int64_t step) {
  const bool isFirst = !std::exchange(hasStarted_, true);
  if (purge_ == PurgePolicy::kNone || (purge_ == PurgePolicy::kTensorBoardServer && isFirst)) {
    return;
  }
  restarts_.add(position, step);
}

std::uint32_t RunScan::meet(std::string_view tag) {
  const std::uint32_t number = numbers_.find(tag);
  if (number == tags_.size()) {
    tags_.push_back({std::string(tag), {}});
    states_.emplace_back();
  }
  return number;
}

void RunScan::setMetadata(std::uint32_t tag, SummaryMetadata metadata) {
  const std::string& plugin = metadata.pluginName;
  states_[tag].isScalar = plugin == kScalarsPlugin;
  states_[tag].isGraph = plugin == kGraphsPlugin || plugin == kTaggedRunMetadataPlugin;
  tags_[tag].metadata = std::move(metadata);
}

void RunScan::noteStep(std::uint32_t tag, EventPosition position, std::int64_t step) {
  if (watchesSteps_ && step < latestStep_) {
    states_[tag].stepsBack.add(position, step);
  }
}

}  // namespace steptape::detail
