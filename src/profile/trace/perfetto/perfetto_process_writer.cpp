// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/perfetto/perfetto_process_writer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <queue>
#include <set>
#include <utility>

#include "base/utf8.h"
#include "events/messages/wire_format.h"
#include "profile/trace/chrome/chrome_format.h"
#include "profile/trace/perfetto/perfetto_arguments.h"
#include "profile/trace/perfetto/perfetto_format.h"
#include "profile/trace/perfetto/perfetto_memory.h"
#include "profile/trace/perfetto/perfetto_tracks.h"
#include "profile/trace/trace_file.h"

namespace steptape::detail::profile {
namespace {

namespace event = perfetto::event;
namespace track = perfetto::track;

std::uint64_t unsignedOf(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

/// @param category May be empty.
std::string namedEvent(std::uint64_t type, std::string_view category, std::string_view name) {
  std::string bytes;
  events::appendVarintField(&bytes, event::kType, type);
  if (!category.empty()) {
    events::appendBytesField(&bytes, event::kCategory, category);
  }
  events::appendBytesField(&bytes, event::kName, name);
  return bytes;
}

std::string typeField(std::uint64_t type) {
  std::string field;
  events::appendVarintField(&field, event::kType, type);
  return field;
}

/// What the trace says of its process, as arguments.
std::string processFacts(const Trace& trace, PerfettoNames* names) {
  std::string bytes = namedEvent(event::kInstant, kNoteCategory, kProcessFacts);
  PerfettoArguments arguments(&bytes, names);
  arguments.addText("host_name", trace.hostName);
  arguments.addInteger("process_id", trace.processId);
  arguments.addText("process_name", trace.processName);
  arguments.addInteger("rank", trace.rank);
  arguments.addInteger("world_size", trace.worldSize);
  arguments.addInteger("duration", trace.duration);
  arguments.addInteger("dropped", static_cast<std::int64_t>(trace.dropped));
  std::set<std::string> known;
  for (const auto& [key, value] : trace.metadata) {
    if (known.insert(key).second) {
      arguments.addText("metadata." + key, value);
    }
  }
  return bytes;
}

}  // namespace

PerfettoProcessWriter::PerfettoProcessWriter(const Trace& trace, std::string name,
                                             std::int64_t processId, PerfettoFileState* file,
                                             TraceText* text)
    : trace_(trace),
      name_(std::move(name)),
      processId_(processId),
      file_(file),
      text_(text),
      processTrack_(newTrack()),
      flows_(trace.threads.size()),
      firstFlow_(file->lastFlow) {
  for (std::size_t thread = 0; thread < trace.threads.size(); ++thread) {
    threadTracks_.push_back(newTrack());
  }
}

void PerfettoProcessWriter::write() {
  writeProcess();
  writeDevices();
  findFlows();
  for (std::size_t thread = 0; thread < trace_.threads.size(); ++thread) {
    writeNested(thread);
    writeDetached(thread);
    writeSteps(thread);
  }
  writePerfettoMemory(trace_, processTrack_, threadTracks_, file_, text_);
  writeCounters();
}

void PerfettoProcessWriter::writeProcess() {
  std::string process;
  events::appendVarintField(&process, track::kPid, unsignedOf(processId_));
  events::appendBytesField(&process, track::kProcessName, base::replaceInvalidUtf8(name_));
  events::appendBytesField(&process, track::kProcessLabel,
                           base::replaceInvalidUtf8(processLabel(trace_)));
  std::string descriptor;
  events::appendVarintField(&descriptor, track::kUuid, processTrack_);
  events::appendBytesField(&descriptor, track::kProcess, process);
  events::appendVarintField(&descriptor, track::kOrderRank, unsignedOf(++file_->lastProcess));

  PerfettoSequence sequence(processTrack_, descriptor, file_, text_);
  const std::string facts = processFacts(trace_, sequence.names());
  sequence.writeNewNames();
  sequence.appendEvent(facts, unixNanos(0));
  if (trace_.dropped != 0) {
    sequence.appendEvent(namedEvent(event::kInstant, kNoteCategory,
                                    "dropped " + std::to_string(trace_.dropped) + " spans"),
                         unixNanos(trace_.duration));
  }
  sequence.appendEvent(namedEvent(event::kInstant, "", "Record Window End"),
                       unixNanos(trace_.duration));
}

void PerfettoProcessWriter::writeDevices() {
  for (const TraceThread& thread : trace_.threads) {
    if (thread.device >= 0 && deviceTracks_.count(thread.device) == 0) {
      const std::uint64_t uuid = newTrack();
      deviceTracks_[thread.device] = uuid;
      appendTrackPacket(
          trackDescriptor(uuid, processTrack_, "GPU " + std::to_string(thread.device)), text_);
    }
  }
}

std::string PerfettoProcessWriter::threadDescriptor(std::size_t index) const {
  const TraceThread& thread = trace_.threads[index];
  const std::string name =
      thread.name.empty() ? unnamedThread(thread.id, thread.device) : thread.name;
  if (thread.device >= 0) {
    return trackDescriptor(threadTracks_[index], deviceTracks_.at(thread.device), name);
  }
  std::string fields;
  events::appendVarintField(&fields, track::kPid, unsignedOf(processId_));
  events::appendVarintField(&fields, track::kTid, thread.id);
  events::appendBytesField(&fields, track::kThreadName, base::replaceInvalidUtf8(name));
  std::string descriptor;
  events::appendVarintField(&descriptor, track::kUuid, threadTracks_[index]);
  events::appendBytesField(&descriptor, track::kThread, fields);
  events::appendVarintField(&descriptor, track::kOrderRank, index + 1);
  return descriptor;
}

/// Viewers show the tracks of a thread that have this name as one, with a row for each.
std::string PerfettoProcessWriter::overlapDescriptor(std::uint64_t uuid, std::size_t thread) const {
  std::string descriptor;
  events::appendVarintField(&descriptor, track::kUuid, uuid);
  events::appendVarintField(&descriptor, track::kParent, threadTracks_[thread]);
  events::appendBytesField(&descriptor, track::kName, "overlapping spans");
  return descriptor;
}

void PerfettoProcessWriter::findFlows() {
  std::vector<TraceLink> links = linkBackward(trace_);
  const std::vector<TraceLink> launches = linkLaunches(trace_);
  std::copy_if(launches.begin(), launches.end(), std::back_inserter(links),
               [this](const TraceLink& link) {
                 return trace_.threads[link.fromThread].spans[link.fromSpan].start <=
                        trace_.threads[link.toThread].spans[link.toSpan].start;
               });
  const auto note = [this](std::size_t thread, std::size_t span, std::uint32_t flow) {
    flows_[thread].resize(trace_.threads[thread].spans.size());
    flows_[thread][span] = flow;
  };
  std::uint32_t number = 0;
  for (const TraceLink& link : links) {
    if (!flows_[link.fromThread].empty() && flows_[link.fromThread][link.fromSpan] != 0) {
      continue;  // a call that launched several kernels: a span has one arrow
    }
    number += 2;
    note(link.fromThread, link.fromSpan, number);
    note(link.toThread, link.toSpan, number + 1);
  }
  file_->lastFlow += number / 2;
}

PerfettoFlow PerfettoProcessWriter::flowAt(std::size_t thread, std::size_t span) const {
  const std::uint32_t number = flows_[thread].empty() ? 0 : flows_[thread][span];
  return {number == 0 ? 0 : firstFlow_ + number / 2, number % 2 != 0};
}

void PerfettoProcessWriter::writeNested(std::size_t thread) {
  const std::vector<TraceSpan>& spans = trace_.threads[thread].spans;
  PerfettoSequence sequence(threadTracks_[thread], threadDescriptor(thread), file_, text_);
  PerfettoSlices slices(trace_, thread, &sequence);
  std::vector<std::int64_t> openEnds;
  const auto endBefore = [&](std::int64_t time) {
    for (; !openEnds.empty() && openEnds.back() <= time; openEnds.pop_back()) {
      slices.end(openEnds.back());
    }
  };
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if ((spans[i].flags & kDetached) == 0) {
      endBefore(spans[i].start);
      slices.begin(spans[i], flowAt(thread, i));
      openEnds.push_back(spans[i].start + spans[i].duration);
    }
  }
  endBefore(std::numeric_limits<std::int64_t>::max());
}

void PerfettoProcessWriter::writeDetached(std::size_t thread) {
  const std::vector<TraceSpan>& spans = trace_.threads[thread].spans;
  const auto isDetached = [](const TraceSpan& span) { return (span.flags & kDetached) != 0; };
  if (std::none_of(spans.begin(), spans.end(), isDetached)) {
    return;
  }
  PerfettoSequence sequence(threadTracks_[thread], {}, file_, text_);
  PerfettoSlices slices(trace_, thread, &sequence);
  using Open = std::pair<std::int64_t, std::uint64_t>;  // end and track
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> freeTracks;
  const auto endBefore = [&](std::int64_t time) {
    for (; !open.empty() && open.top().first <= time; open.pop()) {
      slices.end(open.top().first, open.top().second);
      freeTracks.push(open.top().second);
    }
  };
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (!isDetached(spans[i])) {
      continue;
    }
    endBefore(spans[i].start);
    if (freeTracks.empty()) {
      freeTracks.push(newTrack());
      appendTrackPacket(overlapDescriptor(freeTracks.top(), thread), text_);
    }
    slices.begin(spans[i], flowAt(thread, i), freeTracks.top());
    open.emplace(spans[i].start + spans[i].duration, freeTracks.top());
    freeTracks.pop();
  }
  endBefore(std::numeric_limits<std::int64_t>::max());
}

void PerfettoProcessWriter::writeSteps(std::size_t thread) {
  const auto isOfThread = [thread](const TraceStep& step) { return step.thread == thread; };
  if (std::none_of(trace_.steps.begin(), trace_.steps.end(), isOfThread)) {
    return;
  }
  const std::uint64_t uuid = newTrack();
  PerfettoSequence sequence(uuid, trackDescriptor(uuid, threadTracks_[thread], "steps"), file_,
                            text_);
  for (const TraceStep& step : trace_.steps) {
    if (isOfThread(step)) {
      const std::string name = kStepPrefix + std::to_string(step.number);
      sequence.appendEvent(namedEvent(event::kSliceBegin, kUserCategory, name),
                           unixNanos(step.start));
      sequence.appendEvent(typeField(event::kSliceEnd), unixNanos(step.start + step.duration));
    }
  }
}

void PerfettoProcessWriter::writeCounters() {
  for (const TraceCounter& counter : trace_.counters) {
    const std::uint64_t uuid = newTrack();
    PerfettoSequence sequence(uuid, counterDescriptor(uuid, processTrack_, counter.name, 0), file_,
                              text_);
    for (const auto& [time, value] : counter.points) {
      if (!std::isfinite(value)) {
        continue;  // a gap in the curve
      }
      std::string fields = typeField(event::kCounter);
      events::appendDoubleField(&fields, event::kDoubleCounterValue, value);
      sequence.appendEvent(fields, unixNanos(time));
    }
  }
}

}  // namespace steptape::detail::profile
