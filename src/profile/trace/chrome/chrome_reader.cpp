// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unordered_map>
#include <utility>

#include "steptape/base/status.h"

#include "base/file_kind.h"
#include "base/text.h"
#include "profile/trace/chrome/chrome_contents.h"
#include "profile/trace/chrome/chrome_events.h"
#include "profile/trace/chrome/chrome_format.h"
#include "profile/trace/chrome/chrome_span_joiner.h"
#include "profile/trace/chrome/chrome_span_reader.h"
#include "profile/trace/chrome/chrome_trace.h"

namespace steptape {
namespace {

using detail::profile::ChromeContents;
using detail::profile::ChromeEvent;
using detail::profile::ChromeSpanJoiner;
using detail::profile::JsonMember;
using detail::profile::JsonValue;

/// Returns whether events of the phase are spans, or their begin or end; unknown if there is none.
bool isPartOfSpan(const std::string& phase) {
  return phase.empty() || phase == "X" || phase == "B" || phase == "E" || phase == "b" ||
         phase == "e";
}

std::optional<std::int64_t> integerArgument(const ChromeEvent& event, std::string_view key) {
  const JsonValue* const value = event.argument(key);
  return value == nullptr ? std::nullopt : value->integer();
}

std::string textArgument(const ChromeEvent& event, std::string_view key) {
  const JsonValue* const value = event.argument(key);
  return value == nullptr ? "" : value->text;
}

std::optional<int> deviceOf(std::optional<std::int64_t> number) {
  constexpr std::int64_t kMaxDevice = std::numeric_limits<int>::max();
  return number && *number >= 0 && *number <= kMaxDevice
             ? std::optional<int>(static_cast<int>(*number))
             : std::nullopt;
}

/// Returns a time that can be added to others without overflow; 0 if there is none.
std::int64_t timeOr0(std::optional<std::int64_t> nanos) {
  constexpr std::int64_t kMaxNanos = std::numeric_limits<std::int64_t>::max() / 4;
  return nanos && *nanos >= 0 && *nanos <= kMaxNanos ? *nanos : 0;
}

/// Returns the number after `prefix`, if `text` consists of only these.
std::optional<std::int64_t> numberAfter(std::string_view prefix, std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  if (!detail::base::startsWith(text, prefix) ||
      std::from_chars(text.data() + prefix.size(), end, number).ptr != end ||
      text.size() == prefix.size()) {
    return {};
  }
  return number;
}

/// Returns the same for 7 and "7".
std::string idOf(const JsonValue& value) {
  const std::optional<std::int64_t> number = value.integer();
  return number ? std::to_string(*number) : value.text;
}

/// Returns a key of two parts.
std::string joined(const JsonValue& a, const JsonValue& b) {
  return a.text + '\0' + b.text;
}

/// Returns what the begin and the end of an asynchronous span have in common.
std::string asyncKey(const ChromeEvent& event) {
  return joined(event.category, event.id) + '\0' + event.processId.text;
}

/// Sorts the events of a file by row.
class ContentsReader : public detail::profile::ChromeEventSink {
 public:
  explicit ContentsReader(ChromeSpanJoiner::When when) : joiner_(when, &contents_) {}

  void takeMember(const JsonMember& member) override;
  void takeEvent(const ChromeEvent& event) override;
  void takeStranger() override { ++contents_.strangers; }

  /// Returns whether begins and ends were in the order of time. Else the contents are incomplete.
  bool isInOrder() const { return joiner_.isInOrder(); }
  /// Call after the last event.
  ChromeContents takeContents();
  /// Returns how many events that are no spans have no place in a Trace.
  std::uint64_t others() const { return others_; }

 private:
  std::size_t processOf(const JsonValue& id);
  std::size_t rowOf(const ChromeEvent& event);

  void takeMetadata(const ChromeEvent& event);
  void takeThreadName(const ChromeEvent& event);
  void takeProcessFacts(const ChromeEvent& event);
  /// @return whether a Trace has a place for the event, or needs none because its data is known.
  bool takeTimed(const ChromeEvent& event, std::int64_t time);
  bool takeSlice(const ChromeEvent& event, std::int64_t time);
  void addStep(const ChromeEvent& event, const TraceStep& step);
  void beginSpan(const ChromeEvent& event, std::int64_t time, std::string key);
  bool takeInstant(const ChromeEvent& event, std::int64_t time);
  bool takeMemory(const ChromeEvent& event, std::int64_t time);
  bool takeCounter(const ChromeEvent& event, std::int64_t time);
  void takeFlow(const ChromeEvent& event, std::int64_t time);
  TraceSpan& addSpan(const ChromeEvent& event, std::int64_t time, std::int64_t duration);

  ChromeContents contents_;
  // Indices into contents_, by the file's names.
  std::unordered_map<std::string, std::size_t> processes_;
  std::unordered_map<std::string, std::size_t> rows_;
  std::unordered_map<std::string, std::size_t> flows_;
  std::unordered_map<std::string, std::size_t> counters_;
  ChromeSpanJoiner joiner_;
  std::uint64_t others_ = 0;
};

std::size_t ContentsReader::processOf(const JsonValue& id) {
  const auto [known, isNew] = processes_.try_emplace(idOf(id), contents_.processes.size());
  if (isNew) {
    contents_.processes.emplace_back().id = idOf(id);
  }
  return known->second;
}

std::size_t ContentsReader::rowOf(const ChromeEvent& event) {
  const std::size_t process = processOf(event.processId);
  const std::optional<std::int64_t> id = event.threadId.integer();
  const auto [known, isNew] = rows_.try_emplace(
      std::to_string(process) + '\0' + idOf(event.threadId), contents_.rows.size());
  if (isNew) {
    ChromeContents::Row row;
    row.process = process;
    // Numbers for threads without one; no operating system uses them.
    constexpr std::uint64_t kFirstOfUnnumbered = std::uint64_t{1} << 32;
    row.thread.id = id ? static_cast<std::uint64_t>(*id) : kFirstOfUnnumbered + known->second;
    row.thread.name = id ? "" : event.threadId.text;
    contents_.rows.push_back(std::move(row));
  }
  return known->second;
}

void ContentsReader::takeMember(const JsonMember& member) {
  const auto& [key, value] = member;
  if (key == "baseTimeNanoseconds") {
    contents_.baseNanos = timeOr0(value.integer());
  } else if (key == "host_name") {
    contents_.hostName = value.text;
  } else if (key == "distributedInfo") {
    for (const auto& [name, fact] : detail::profile::jsonMembers(value.text)) {
      if (name == "rank") {
        contents_.rank = static_cast<int>(fact.integer().value_or(0));
      } else if (name == "world_size") {
        contents_.worldSize = static_cast<int>(fact.integer().value_or(1));
      }
    }
  } else if (key != "schemaVersion" && key != "displayTimeUnit" && key != "traceName" &&
             !(key == "deviceProperties" && value.text == "[]")) {
    contents_.metadata.emplace_back(key, value.json());
  }
}

void ContentsReader::takeEvent(const ChromeEvent& event) {
  if (!isInOrder()) {
    return;
  }
  if (event.phase.text == "M") {
    takeMetadata(event);
    return;
  }
  const std::optional<std::int64_t> time = event.time.microsToNanos();
  if (time && takeTimed(event, *time)) {
    return;
  }
  if (isPartOfSpan(event.phase.text)) {
    takeStranger();
  } else {
    ++others_;
  }
}

void ContentsReader::takeMetadata(const ChromeEvent& event) {
  const std::string& name = event.name.text;
  if (name == "thread_name") {
    takeThreadName(event);
    return;
  }
  ChromeContents::Process& process = contents_.processes[processOf(event.processId)];
  if (name == "process_name") {
    process.trace.processName = textArgument(event, "name");
  } else if (name == "process_labels") {
    if (const auto device = deviceOf(numberAfter("GPU ", textArgument(event, "labels")))) {
      process.device = device;
    }
  } else if (name == detail::profile::kDeviceFacts) {
    process.device = deviceOf(integerArgument(event, "device"));
    process.hostId = textArgument(event, "process");
  } else if (name == detail::profile::kProcessFacts) {
    takeProcessFacts(event);
  }
}

void ContentsReader::takeThreadName(const ChromeEvent& event) {
  ChromeContents::Row& row = contents_.rows[rowOf(event)];
  row.thread.name = textArgument(event, "name");
  row.torchThread = static_cast<std::uint16_t>(
      integerArgument(event, detail::profile::kTorchThread).value_or(row.torchThread));
}

void ContentsReader::takeProcessFacts(const ChromeEvent& event) {
  ChromeContents::Process& process = contents_.processes[processOf(event.processId)];
  process.isOurs = true;
  Trace& trace = process.trace;
  trace.hostName = textArgument(event, "host_name");
  trace.processId = integerArgument(event, "process_id").value_or(0);
  trace.processName = textArgument(event, "process_name");
  trace.rank = static_cast<int>(integerArgument(event, "rank").value_or(0));
  trace.worldSize = static_cast<int>(integerArgument(event, "world_size").value_or(1));
  trace.originNanos = event.time.microsToNanos().value_or(0);
  trace.duration = timeOr0(integerArgument(event, "duration"));
  trace.dropped = static_cast<std::uint64_t>(integerArgument(event, "dropped").value_or(0));
  trace.metadata.clear();
  for (const auto& [key, value] : detail::profile::jsonMembers(textArgument(event, "metadata"))) {
    trace.metadata.emplace_back(key, value.json());
  }
}

bool ContentsReader::takeTimed(const ChromeEvent& event, std::int64_t time) {
  const std::string& phase = event.phase.text;
  if (phase == "X") {
    return takeSlice(event, time);
  }
  if (phase == "B") {
    beginSpan(event, time, {});
    return true;
  }
  if (phase == "E") {
    return joiner_.take({time, false, {rowOf(event), 0}, {}}, event.name.text);
  }
  if (phase == "i" || phase == "I") {
    return takeInstant(event, time);
  }
  if (phase == "C") {
    return takeCounter(event, time);
  }
  if (phase == "e") {
    return joiner_.take({time, false, {0, 0}, asyncKey(event)}, event.name.text);
  }
  if (phase == "b") {
    beginSpan(event, time, asyncKey(event));
    return true;
  }
  if (phase == "s" || phase == "f" || phase == "t") {
    takeFlow(event, time);
    return true;
  }
  return false;
}

bool ContentsReader::takeSlice(const ChromeEvent& event, std::int64_t time) {
  const std::optional<std::int64_t> duration = event.duration.microsToNanos();
  if (!duration || *duration < 0) {
    return false;
  }
  if (event.category.text == "Trace") {
    contents_.window = {time, *duration};
    return true;
  }
  const auto step = numberAfter(detail::profile::kStepPrefix, event.name.text);
  if (step && event.category.text == detail::profile::kUserCategory &&
      event.argument("kind") == nullptr) {
    addStep(event, {*step, time, *duration, 0});
    return true;
  }
  if (const auto number = integerArgument(event, detail::profile::kStepArgument)) {
    addStep(event, {*number, time, *duration, 0});
    return true;
  }
  addSpan(event, time, *duration);
  return true;
}

void ContentsReader::addStep(const ChromeEvent& event, const TraceStep& step) {
  const std::size_t row = rowOf(event);
  contents_.rows[row].isUsed = true;
  std::vector<TraceStep>& steps = contents_.processes[contents_.rows[row].process].trace.steps;
  steps.push_back(step);
  steps.back().thread = row;
}

/// @param key Of an asynchronous span; else empty.
void ContentsReader::beginSpan(const ChromeEvent& event, std::int64_t time, std::string key) {
  TraceSpan& span = addSpan(event, time, ChromeContents::kUnfinished);
  if (!key.empty() && event.argument(detail::profile::kOverlapOnThread) == nullptr) {
    span.flags |= kDetached;
  }
  const std::size_t row = rowOf(event);
  joiner_.take({time, true, {row, contents_.rows[row].thread.spans.size() - 1}, std::move(key)},
               event.name.text);
}

TraceSpan& ContentsReader::addSpan(const ChromeEvent& event, std::int64_t time,
                                   std::int64_t duration) {
  ChromeContents::Row& row = contents_.rows[rowOf(event)];
  row.isUsed = true;
  TraceSpan span = readChromeSpan(event, &contents_.tables);
  span.start = time;
  span.duration = duration;
  return row.thread.spans.emplace_back(span);
}

ChromeContents ContentsReader::takeContents() {
  joiner_.finish();
  return std::move(contents_);
}

bool ContentsReader::takeInstant(const ChromeEvent& event, std::int64_t time) {
  const std::string& name = event.name.text;
  if (name == "[memory]") {
    return takeMemory(event, time);
  }
  // The data of these events is known from other events.
  return name == "Record Window End" || detail::base::startsWith(name, "Iteration Start") ||
         event.category.text == detail::profile::kNoteCategory;
}

bool ContentsReader::takeMemory(const ChromeEvent& event, std::int64_t time) {
  const auto address = integerArgument(event, "Addr");
  const auto bytes = integerArgument(event, "Bytes");
  if (!address || !bytes) {
    return false;
  }
  TraceMemoryEvent memory;
  memory.time = time;
  memory.address = static_cast<std::uint64_t>(*address);
  memory.bytes = *bytes;
  memory.totalAllocated = integerArgument(event, "Total Allocated").value_or(0);
  memory.totalReserved = integerArgument(event, "Total Reserved").value_or(0);
  memory.deviceType = static_cast<int>(integerArgument(event, "Device Type").value_or(0));
  memory.deviceIndex = static_cast<int>(integerArgument(event, "Device Id").value_or(-1));
  memory.thread = rowOf(event);
  contents_.rows[memory.thread].isUsed = true;
  contents_.processes[contents_.rows[memory.thread].process].trace.memory.push_back(memory);
  return true;
}

bool ContentsReader::takeCounter(const ChromeEvent& event, std::int64_t time) {
  if (event.category.text == detail::profile::kMemoryCategory) {
    return true;  // derived from the memory events
  }
  const std::size_t process = processOf(event.processId);
  std::vector<TraceCounter>& counters = contents_.processes[process].trace.counters;
  bool isCounter = false;
  for (const auto& [key, value] : event.arguments) {
    const std::optional<double> number = value.number();
    if (!number) {
      continue;
    }
    isCounter = true;
    const std::string name = event.name.text + (key == "value" ? "" : " " + key);
    const auto [known, isNew] =
        counters_.try_emplace(idOf(event.processId) + '\0' + name, counters.size());
    if (isNew) {
      counters.push_back({name, {}});
    }
    counters[known->second].points.emplace_back(time, *number);
  }
  return isCounter;
}

void ContentsReader::takeFlow(const ChromeEvent& event, std::int64_t time) {
  if (event.category.text != "fwdbwd") {
    return;
  }
  const auto [known, isNew] = flows_.try_emplace(event.id.text, contents_.flows.size());
  if (isNew) {
    contents_.flows.emplace_back();
  }
  ChromeContents::Flow& flow = contents_.flows[known->second];
  if (event.phase.text == "s") {
    flow.from = rowOf(event);
  } else {
    flow.to = rowOf(event);
    flow.end = time;
  }
}

/// Opening a FIFO again would wait for another writer.
void checkRereadable(const std::string& path) {
  struct stat status {};
  const bool isThere = ::stat(path.c_str(), &status) == 0;
  if (const std::string problem = detail::base::fileKindProblem(status.st_mode);
      isThere && !problem.empty()) {
    throw Error(ErrorCode::kIoError,
                path +
                    " must be read twice, because begins and ends are not in the order of "
                    "time: " +
                    problem);
  }
}

}  // namespace

std::vector<Trace> detail::profile::readChromeTrace(const std::string& path,
                                                    std::vector<std::string>* notes) {
  const std::size_t notesBefore = notes == nullptr ? 0 : notes->size();
  auto reader = std::make_unique<ContentsReader>(ChromeSpanJoiner::When::kAtOnce);
  readChromeEvents(path, reader.get(), notes);
  if (!reader->isInOrder()) {
    // Most files are in order, and must need neither memory nor time for this.
    checkRereadable(path);
    if (notes != nullptr) {
      notes->resize(notesBefore);
    }
    reader = std::make_unique<ContentsReader>(ChromeSpanJoiner::When::kByTime);
    readChromeEvents(path, reader.get(), notes);
  }
  if (notes != nullptr && reader->others() != 0) {
    notes->push_back(path + " has " + detail::base::counted(reader->others(), "event") +
                     " besides spans, memory, counters and flows, such as instants; left out");
  }
  ChromeContents contents = reader->takeContents();
  std::vector<Trace> traces = assembleTraces(&contents);
  if (notes != nullptr && contents.restoredSteps != 0) {
    notes->push_back(
        path + " has " + detail::base::counted(contents.restoredSteps, "step") +
        " with the begin of the call that ends it, as PyTorch 2.5 with with_stack writes; "
        "each is taken to begin where the step before it ended");
  }
  return traces;
}

}  // namespace steptape
