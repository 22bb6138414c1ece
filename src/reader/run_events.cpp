// SPDX-License-Identifier: Apache-2.0
#include "steptape/reader/run_events.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "steptape/event/event_codec.h"

#include "reader/event_values.h"
#include "reader/run_file.h"
#include "reader/run_scan.h"

namespace steptape {
namespace {

using detail::ScalarView;

constexpr std::uint64_t kProgressBytes = std::uint64_t{8} << 20;

Value tensorValue(const std::string& tag, float number) {
  Tensor tensor;
  tensor.type = TensorType::kFloat;
  std::uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  tensor.content.resize(sizeof bits);
  detail::storeLittleEndian32(tensor.content.data(), bits);
  return {tag, std::move(tensor), std::nullopt};
}

}  // namespace

struct RunEvents::State {
  State(const RunFiles& run, RunEventsOptions runOptions)
      : options(std::move(runOptions)), files(run.files), scan(options.purge) {}

  void scanFiles();
  bool nextEvent();
  bool readRecord(std::string_view* payload);
  void closeFile();
  bool takeScalar(RunValue* value);
  bool takeValue(RunValue* value);
  void progress(std::uint64_t bytesOfFile);

  RunEventsOptions options;
  std::vector<std::string> files;
  detail::RunScan scan;
  std::vector<Damage> damage;

  std::uint32_t file = 0;
  std::optional<detail::RunFile> reader;
  detail::EventPosition position;
  RunValue event;                   // time and step of all values of the event
  std::vector<ScalarView> scalars;  // of an event that is nothing but scalars
  std::vector<Value> values;        // of any other
  std::size_t nextValue = 0;
  Value number;  // a number that is no scalar

  std::uint64_t bytesBefore = 0;  // in files that were read to their ends
  std::uint64_t nextProgress = kProgressBytes;
};

void RunEvents::State::scanFiles() {
  for (const std::string& path : files) {
    scan.scan(path, [this](std::uint64_t offset) { progress(offset); });
    bytesBefore += scan.ends().back();
  }
  damage = scan.damage();
}

/// Reads on to the next event that may have values.
bool RunEvents::State::nextEvent() {
  std::string_view payload;
  if (!readRecord(&payload)) {
    return false;
  }
  nextValue = 0;
  values.clear();
  if (detail::takeScalars(payload, &event, &scalars)) {
    return true;
  }
  scalars.clear();
  Event decoded;
  if (decodeEvent(payload, &decoded).ok()) {
    event.wallTime = decoded.wallTime;
    event.step = decoded.step;
    values = detail::takeValues(std::move(decoded));
  }
  return true;
}

bool RunEvents::State::readRecord(std::string_view* payload) {
  for (; file < files.size(); closeFile()) {
    const std::uint64_t end = scan.ends()[file];
    if (!reader) {
      reader.emplace(files[file], /*mayGrow=*/false);
      if (!reader->open()) {
        continue;
      }
    }
    if (reader->offset() < end && reader->next(payload) && reader->recordOffset() < end) {
      position = {file, reader->recordOffset()};
      progress(position.second);
      return true;
    }
  }
  return false;
}

/// Ends a file, and notes if less of it could be read than the first time.
void RunEvents::State::closeFile() {
  const std::uint64_t end = scan.ends()[file];
  if (reader->offset() < end) {
    std::vector<Damage> found;
    reader->appendDamage(&found);
    for (Damage& each : found) {
      const bool isKnown = std::any_of(damage.begin(), damage.end(), [&](const Damage& known) {
        return known.path == each.path && known.offset == each.offset;
      });
      if (!isKnown) {
        damage.push_back(std::move(each));
      }
    }
  }
  reader.reset();
  bytesBefore += end;
  ++file;
}

/// Takes the next scalar of the event. @return false if a restart dropped it.
bool RunEvents::State::takeScalar(RunValue* value) {
  const ScalarView& scalar = scalars[nextValue++];
  const std::uint32_t tag = scan.tagNumber(scalar.tag);
  if (!scan.keeps(tag, position, event.step)) {
    return false;
  }
  *value = event;
  value->tag = tag;
  value->scalar = double{scalar.value};
  if (!scan.isScalar(tag)) {
    number = tensorValue(scan.tags()[tag].name, scalar.value);
    value->data = &number;
  }
  return true;
}

/// Takes the next value of the event. @return false if there is nothing in it that is left.
bool RunEvents::State::takeValue(RunValue* value) {
  const Value& taken = values[nextValue++];
  const std::uint32_t tag = scan.tagNumber(taken.tag);
  if (detail::isEmpty(taken) || !scan.keeps(tag, position, event.step)) {
    return false;
  }
  *value = event;
  value->tag = tag;
  const std::optional<double> scalar = detail::numberOf(taken);
  value->scalar = scalar.value_or(0);
  value->data = scalar && scan.isScalar(tag) ? nullptr : &taken;
  return true;
}

void RunEvents::State::progress(std::uint64_t bytesOfFile) {
  const std::uint64_t bytes = bytesBefore + bytesOfFile;
  if (bytes >= nextProgress && options.onProgress) {
    nextProgress = bytes + kProgressBytes;
    options.onProgress(bytes);
  }
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

}  // namespace steptape
