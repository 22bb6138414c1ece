// SPDX-License-Identifier: Apache-2.0
#include "log/reader/run_events.h"

#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>

#include "steptape/events/plugin_content.h"

#include "events/messages/event_codec.h"
#include "events/messages/summary_event.h"
#include "log/reader/event_values.h"
#include "log/reader/read_progress.h"
#include "log/reader/run_file.h"
#include "log/reader/run_scan.h"

namespace steptape::detail::log {

struct RunEvents::State {
  State(const RunFiles& run, RunEventsOptions runOptions)
      : files(run.files), scan(runOptions.purge), progress(std::move(runOptions.onProgress)) {}

  void scanFiles();
  bool nextEvent();
  bool readRecord(std::string_view* payload);
  void closeFile();
  bool takeScalar(RunValue* value);
  bool takeValue(RunValue* value);

  std::vector<std::string> files;
  RunScan scan;
  ReadProgress progress;
  std::vector<Damage> damage;

  std::uint32_t file = 0;
  std::optional<RunFile> reader;
  EventPosition position;
  RunValue event;                           // time and step of all values of the event
  std::vector<events::ScalarView> scalars;  // if the event has only scalars
  std::vector<event::Value> values;         // if the event has other values
  std::size_t nextValue = 0;
  event::Value number;  // a number that is not a scalar
};

void RunEvents::State::scanFiles() {
  for (const std::string& path : files) {
    scan.scan(path, &progress);
  }
  scan.finish();
  damage = scan.takeDamage();
}

/// Advances to the next event that may have values.
bool RunEvents::State::nextEvent() {
  std::string_view payload;
  if (!readRecord(&payload)) {
    return false;
  }
  nextValue = 0;
  values.clear();
  if (takeScalars(payload, &event, &scalars)) {
    return true;
  }
  scalars.clear();
  event::Event decoded;
  if (events::decodeEvent(payload, &decoded).ok()) {
    event.wallTime = decoded.wallTime;
    event.step = decoded.step;
    values = takeValues(std::move(decoded));
  }
  return true;
}

bool RunEvents::State::readRecord(std::string_view* payload) {
  for (; file < files.size(); closeFile()) {
    const std::uint64_t end = scan.ends()[file];
    if (!reader) {
      reader.emplace(files[file], /*expectGrowth=*/false);
      progress.beginFile(0);
      if (!reader->open()) {
        continue;
      }
    }
    if (reader->offset() < end && reader->next(payload) && reader->recordOffset() < end) {
      position = {file, reader->recordOffset()};
      progress.reach(position.second);
      return true;
    }
  }
  return false;
}

/// Ends a file, and records its damage that was not there in the first pass.
void RunEvents::State::closeFile() {
  std::unordered_set<std::uint64_t> known;  // offsets
  for (const Damage& each : damage) {
    if (each.path == files[file]) {
      known.insert(each.offset);
    }
  }
  std::vector<Damage> found;
  reader->appendDamage(&found);
  const std::uint64_t end = scan.ends()[file];
  if (reader->offset() < end && found.empty()) {
    found.push_back({files[file], reader->offset(), 0, ReadOutcome::kIoError,
                     becameShorter(files[file], reader->offset(), end)});
  }
  for (Damage& each : found) {
    if (known.count(each.offset) == 0) {
      damage.push_back(std::move(each));
    }
  }
  reader.reset();
  progress.endFile(end);
  ++file;
}

/// Takes the next scalar of the event.
/// @return false if a restart discards it.
bool RunEvents::State::takeScalar(RunValue* value) {
  const events::ScalarView& scalar = scalars[nextValue++];
  ScannedTag* const tag = scan.find(scalar.tag);
  if (!scan.keeps(tag, position, event.step)) {
    return false;
  }
  *value = event;
  value->tag = tag->number;
  value->scalar = double{scalar.value};
  // TagSeries::scalars states the rule.
  if (!tag->isScalar && scalar.isTensor &&
      events::pluginNameIn(scalar.metadata) != event::kScalarsPlugin) {
    number = {tag->tag, tensorOf(scalar.value), std::nullopt};
    if (event::SummaryMetadata metadata;
        scalar.hasMetadata && events::decodeMetadata(scalar.metadata, &metadata).ok()) {
      number.metadata = std::move(metadata);
    }
    value->data = &number;
  }
  return true;
}

/// Takes the next value of the event.
/// @return false if no value is left in the event.
bool RunEvents::State::takeValue(RunValue* value) {
  const event::Value& taken = values[nextValue++];
  ScannedTag* const tag = scan.find(taken.tag);
  if (isEmpty(taken) || !scan.keeps(tag, position, event.step)) {
    return false;
  }
  *value = event;
  value->tag = tag->number;
  const std::optional<double> scalar = numberOf(taken);
  const bool namesScalars = taken.metadata && taken.metadata->pluginName == event::kScalarsPlugin;
  value->scalar = scalar.value_or(0);
  if (!scalar || !(tag->isScalar || namesScalars)) {
    value->data = &taken;
  } else if (const auto* tensor = std::get_if<event::Tensor>(&taken.data);
             tensor != nullptr && tensor->type != event::TensorType::kFloat) {
    value->number = &taken;
  }
  return true;
}

RunEvents::RunEvents(const RunFiles& run, RunEventsOptions options)
    : state_(std::make_unique<State>(run, std::move(options))) {
  state_->scanFiles();
}

RunEvents::RunEvents(RunEvents&&) noexcept = default;
RunEvents& RunEvents::operator=(RunEvents&&) noexcept = default;
RunEvents::~RunEvents() = default;

bool RunEvents::next(RunValue* value) {
  State& state = *state_;
  do {
    while (state.nextValue < state.scalars.size()) {
      if (state.takeScalar(value)) {
        return true;
      }
    }
    while (state.nextValue < state.values.size()) {
      if (state.takeValue(value)) {
        return true;
      }
    }
  } while (state.nextEvent());
  return false;
}

const std::vector<RunTag>& RunEvents::tags() const {
  return state_->scan.tags();
}

const std::vector<Damage>& RunEvents::damage() const {
  return state_->damage;
}

}  // namespace steptape::detail::log
