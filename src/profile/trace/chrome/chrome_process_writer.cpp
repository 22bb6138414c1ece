// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/chrome/chrome_process_writer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/json_text.h"
#include "profile/trace/chrome/chrome_format.h"
#include "profile/trace/chrome/json_check.h"
#include "profile/trace/thread_time.h"
#include "profile/trace/trace_file.h"

namespace steptape::detail::profile {
namespace {

const std::string kBegin = "},\n{\"name\":";

std::string whereText(std::int64_t pid, std::uint64_t tid) {
  return "\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(tid);
}

/// Returns the start of an event at one end of an arrow, up to its number.
std::string arrow(const std::string& category, const std::string& phase, const std::string& where) {
  return kBegin + "\"" + category + "\",\"cat\":\"" + category + "\",\"ph\":\"" + phase + "\"," +
         where + ",\"id\":";
}

/// Returns the thread's number in "Fwd thread id", which its operators contain; 0 if they do not.
std::uint16_t torchThread(const Trace& trace, const TraceThread& thread) {
  const auto known =
      std::find_if(thread.spans.begin(), thread.spans.end(), [&](const TraceSpan& span) {
        return trace.names[span.name].kind == SpanKind::kOperator && span.forwardThread != 0;
      });
  return known == thread.spans.end() ? 0 : known->forwardThread;
}

bool comesFirst(const TraceStep& step, const TraceSpan& span) {
  return step.start != span.start ? step.start < span.start : step.duration >= span.duration;
}

/// The events about the memory of one device.
struct MemoryTexts {
  MemoryTexts(int type, int index, std::int64_t processId)
      : event(kBegin + "\"[memory]\",\"cat\":\"cpu_instant_event\",\"args\":{\"Device Type\":" +
              std::to_string(type) + ",\"Device Id\":" + std::to_string(index) + ",\"Addr\":"),
        counter(kBegin + base::jsonString("memory of " + deviceName(type, index)) + ",\"cat\":\"" +
                kMemoryCategory + "\",\"ph\":\"C\"," + whereText(processId, 0) +
                ",\"args\":{\"allocated\":") {}

  std::string event;
  std::string counter;
};

}  // namespace

ChromeProcessWriter::Row::Row(const std::string& where, const std::string& lastArguments)
    : slice(lastArguments + "},\"ph\":\"X\"," + where + ",\"ts\":"),
      asyncBegin(lastArguments + "},\"ph\":\"b\"," + where + ",\"id\":\""),
      asyncEnd(",\"ph\":\"e\"," + where + ",\"id\":\""),
      flowBegin(arrow(kGradientCategory, "s", where)),
      flowEnd(arrow(kGradientCategory, "f\",\"bp\":\"e", where)),
      launchBegin(arrow(kLaunchCategory, "s", where)),
      launchEnd(arrow(kLaunchCategory, "f\",\"bp\":\"e", where)),
      memory("},\"ph\":\"i\",\"s\":\"t\"," + where + ",\"ts\":") {}

ChromeProcessWriter::ChromeProcessWriter(const Trace& trace, std::string name,
                                         std::int64_t processId, ChromeFileState* file,
                                         TraceText* text)
    : trace_(trace),
      name_(std::move(name)),
      processId_(processId),
      offset_(trace.originNanos - file->baseNanos),
      file_(file),
      text_(text),
      spans_(trace) {}

void ChromeProcessWriter::write() {
  writeProcessMetadata();
  std::map<int, std::int64_t> pids{{-1, processId_}};  // process ids by device
  for (std::size_t thread = 0; thread < trace_.threads.size(); ++thread) {
    const int device = trace_.threads[thread].device;
    const auto [pid, isNew] = pids.try_emplace(device, 0);
    if (isNew) {
      pid->second = takeProcessId(device, &file_->processIds);
      writeDeviceMetadata(device, pid->second);
    }
    addRow(thread, pid->second);
  }
  // The operators that launch the devices' work are written first, because it repeats their ids.
  for (const bool isOnDevice : {false, true}) {
    for (std::size_t thread = 0; thread < trace_.threads.size(); ++thread) {
      if (isOnDevice == (trace_.threads[thread].device >= 0)) {
        writeThread(thread);
      }
    }
  }
  writeFlows();
  writeMemory();
  writeCounters();
  writeEnd();
}

void ChromeProcessWriter::addRow(std::size_t thread, std::int64_t pid) {
  const int device = trace_.threads[thread].device;
  const std::uint64_t id = trace_.threads[thread].id;
  rows_.emplace_back(whereText(pid, id), device < 0 ? ""
                                                    : ",\"device\":" + std::to_string(device) +
                                                          ",\"stream\":" + std::to_string(id));
  steps_.emplace_back(trace_, thread);
  writeThreadMetadata(whereText(pid, id), thread);
}

void ChromeProcessWriter::writeMetadata(const std::string& where, std::string_view name,
                                        const std::string& arguments) {
  text_->append(kBegin + base::jsonString(name) + ",\"ph\":\"M\"," + where + ",\"args\":{" +
                arguments + "},\"ts\":");
  appendTime(0);
}

void ChromeProcessWriter::writeProcessMetadata() {
  const std::string where = whereText(processId_, 0);
  writeMetadata(where, "process_name", "\"name\":" + base::jsonString(name_));
  writeMetadata(where, "process_labels", "\"labels\":" + base::jsonString(processLabel(trace_)));
  writeMetadata(where, "process_sort_index",
                "\"sort_index\":" + std::to_string(++file_->lastProcess));
  std::string metadata;
  std::set<std::string> known;
  for (const auto& [key, value] : trace_.metadata) {
    if (known.insert(key).second) {
      metadata += (metadata.empty() ? "" : ",") + base::jsonString(key) + ":" + validJson(value);
    }
  }
  writeMetadata(where, kProcessFacts,
                "\"host_name\":" + base::jsonString(trace_.hostName) +
                    ",\"process_id\":" + std::to_string(trace_.processId) +
                    ",\"process_name\":" + base::jsonString(trace_.processName) +
                    ",\"rank\":" + std::to_string(trace_.rank) +
                    ",\"world_size\":" + std::to_string(trace_.worldSize) +
                    ",\"duration\":" + std::to_string(trace_.duration) + ",\"dropped\":" +
                    std::to_string(trace_.dropped) + ",\"metadata\":{" + metadata + "}");
}

void ChromeProcessWriter::writeDeviceMetadata(int device, std::int64_t pid) {
  const std::string where = whereText(pid, 0);
  const std::string gpu = "GPU " + std::to_string(device);
  writeMetadata(
      where, "process_name",
      "\"name\":" + base::jsonString(file_->isOfOne ? trace_.processName : name_ + ", " + gpu));
  writeMetadata(where, "process_labels", "\"labels\":" + base::jsonString(gpu));
  writeMetadata(where, "process_sort_index",
                "\"sort_index\":" + std::to_string(++file_->lastProcess));
  writeMetadata(
      where, kDeviceFacts,
      "\"process\":" + std::to_string(processId_) + ",\"device\":" + std::to_string(device));
}

void ChromeProcessWriter::writeThreadMetadata(const std::string& where, std::size_t index) {
  const TraceThread& thread = trace_.threads[index];
  const std::uint16_t number = torchThread(trace_, thread);
  writeMetadata(
      where, "thread_name",
      "\"name\":" +
          base::jsonString(thread.name.empty() ? unnamedThread(thread.id, thread.device)
                                               : thread.name) +
          (number == 0 ? "" : "," + base::jsonString(kTorchThread) + ":" + std::to_string(number)));
  writeMetadata(where, "thread_sort_index", "\"sort_index\":" + std::to_string(index + 1));
}

void ChromeProcessWriter::writeThread(std::size_t thread) {
  const std::vector<TraceStep>& steps = steps_[thread].all();
  auto step = steps.begin();
  openOperators_.clear();
  for (const TraceSpan& span : trace_.threads[thread].spans) {
    for (; step != steps.end() && comesFirst(*step, span); ++step) {
      writeStep(*step);
    }
    writeSpan(span, isSlice(thread, span), &rows_[thread]);
  }
  for (; step != steps.end(); ++step) {
    writeStep(*step);
  }
}

void ChromeProcessWriter::writeStep(const TraceStep& step) {
  text_->append(kBegin + base::jsonString(kStepPrefix + std::to_string(step.number)) +
                ",\"cat\":\"" + kUserCategory + "\",\"args\":{\"External id\":");
  text_->appendInteger(++file_->lastSpan);
  text_->append(rows_[step.thread].slice);
  appendTime(step.start);
  text_->append(",\"dur\":");
  text_->appendMicros(step.duration);
}

void ChromeProcessWriter::writeSpan(const TraceSpan& span, bool isSlice, Row* row) {
  text_->append(spans_.of(span));
  text_->appendInteger(externalIdOf(span));
  const SpanKind kind = trace_.names[span.name].kind;
  const bool isBackward = kind == SpanKind::kBackward;
  if (span.sequence >= 0) {
    text_->append(",\"Sequence number\":");
    text_->appendInteger(span.sequence);
  }
  if (span.sequence >= 0 || (isBackward && span.forwardThread != 0)) {
    text_->append(",\"Fwd thread id\":");
    text_->appendInteger(isBackward ? span.forwardThread : 0);
  }
  if ((span.flags & kHasValue) != 0) {
    text_->append(",\"value\":");
    text_->appendNumber(span.value);
  }
  if (span.correlation != 0) {
    text_->append(",\"correlation\":");
    text_->appendInteger(span.correlation);
    const SpanDetails& details = trace_.details[span.details];
    if (details.bytes > 0 && span.duration > 0 && movesBytes(trace_.names[span.name]) &&
        details.arguments.find(kThroughput) == std::string::npos) {
      text_->append(std::string(",\"") + kThroughput + "\":");
      text_->appendNumber(static_cast<double>(details.bytes) / static_cast<double>(span.duration));
    }
  }
  if (isSlice) {
    text_->append(row->slice);
    appendTime(span.start);
    text_->append(",\"dur\":");
    text_->appendMicros(span.duration);
    return;
  }
  if (takesTimeOfThread(span)) {
    text_->append(std::string(",\"") + kOverlapOnThread + "\":true");
  }
  const std::int64_t asyncId = span.correlation != 0 ? ++file_->lastSpan : file_->lastSpan;
  text_->append(row->asyncBegin);
  text_->appendInteger(asyncId);
  text_->append("\",\"ts\":");
  appendTime(span.start);
  text_->append(spans_.endOf(span));
  text_->append(row->asyncEnd);
  text_->appendInteger(asyncId);
  text_->append("\",\"ts\":");
  appendTime(span.start + span.duration);
}

/// Returns the number of a span's event, or, for work of a device and its launch, of the operator
/// that launched it, as Kineto does.
std::int64_t ChromeProcessWriter::externalIdOf(const TraceSpan& span) {
  const SpanKind kind = trace_.names[span.name].kind;
  if (kind == SpanKind::kDevice && span.correlation != 0) {
    const auto known = launchers_.find(span.correlation);
    return known == launchers_.end() ? ++file_->lastSpan : known->second;
  }
  while (!openOperators_.empty() && openOperators_.back().end <= span.start) {
    openOperators_.pop_back();
  }
  const bool isCall = kind == SpanKind::kRuntime && span.correlation != 0;
  const std::int64_t id =
      isCall && !openOperators_.empty() ? openOperators_.back().externalId : ++file_->lastSpan;
  if (isCall) {
    launchers_.emplace(span.correlation, id);
  } else if ((kind == SpanKind::kOperator || kind == SpanKind::kBackward) &&
             takesTimeOfThread(span)) {
    openOperators_.push_back({span.start + span.duration, id});
  }
  return id;
}

void ChromeProcessWriter::writeArrow(const TraceLink& link, std::string Row::*begin,
                                     std::string Row::*end, std::int64_t id) {
  const TraceSpan& from = trace_.threads[link.fromThread].spans[link.fromSpan];
  const TraceSpan& to = trace_.threads[link.toThread].spans[link.toSpan];
  if (!isSlice(link.fromThread, from) || !isSlice(link.toThread, to)) {
    return;  // an arrow needs a slice at both ends
  }
  if (to.start < from.start) {
    return;  // by the error of a device's clock
  }
  text_->append(rows_[link.fromThread].*begin);
  text_->appendInteger(id);
  text_->append(",\"ts\":");
  appendTime(from.start);
  text_->append(rows_[link.toThread].*end);
  text_->appendInteger(id);
  text_->append(",\"ts\":");
  appendTime(to.start);
}

void ChromeProcessWriter::writeFlows() {
  for (const TraceLink& link : linkBackward(trace_)) {
    writeArrow(link, &Row::flowBegin, &Row::flowEnd, ++file_->lastFlow);
  }
  for (const TraceLink& link : linkLaunches(trace_)) {
    writeArrow(link, &Row::launchBegin, &Row::launchEnd, ++file_->lastFlow);
  }
}

void ChromeProcessWriter::writeMemory() {
  std::map<std::pair<int, int>, MemoryTexts> devices;
  for (const TraceMemoryEvent& event : trace_.memory) {
    MemoryTexts& device = devices
                              .try_emplace({event.deviceType, event.deviceIndex}, event.deviceType,
                                           event.deviceIndex, processId_)
                              .first->second;
    text_->append(device.event);
    text_->appendInteger(static_cast<std::int64_t>(event.address));
    text_->append(",\"Bytes\":");
    text_->appendInteger(event.bytes);
    text_->append(",\"Total Allocated\":");
    text_->appendInteger(event.totalAllocated);
    text_->append(",\"Total Reserved\":");
    text_->appendInteger(event.totalReserved);
    text_->append(rows_[event.thread].memory);
    appendTime(event.time);

    text_->append(device.counter);
    text_->appendInteger(event.totalAllocated);
    if (event.totalReserved != 0) {
      text_->append(",\"reserved\":");
      text_->appendInteger(event.totalReserved);
    }
    text_->append("},\"ts\":");
    appendTime(event.time);
  }
}

void ChromeProcessWriter::writeCounters() {
  for (const TraceCounter& counter : trace_.counters) {
    const std::string begin = kBegin + base::jsonString(counter.name) + ",\"ph\":\"C\"," +
                              whereText(processId_, 0) + ",\"args\":{\"value\":";
    for (const auto& [time, value] : counter.points) {
      if (!std::isfinite(value)) {
        continue;  // a gap in the curve
      }
      text_->append(begin);
      text_->appendNumber(value);
      text_->append("},\"ts\":");
      appendTime(time);
    }
  }
}

void ChromeProcessWriter::writeEnd() {
  const std::string where =
      whereText(processId_, trace_.threads.empty() ? 0 : trace_.threads.front().id);
  if (trace_.dropped != 0) {
    text_->append(
        kBegin + base::jsonString("dropped " + std::to_string(trace_.dropped) + " spans") +
        ",\"cat\":\"" + kNoteCategory + "\",\"ph\":\"i\",\"s\":\"p\"," + where + ",\"ts\":");
    appendTime(trace_.duration);
  }
  text_->append(kBegin + "\"Record Window End\",\"ph\":\"i\",\"s\":\"g\"," + where + ",\"ts\":");
  appendTime(trace_.duration);
}

}  // namespace steptape::detail::profile
