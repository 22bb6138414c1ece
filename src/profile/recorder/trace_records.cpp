// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder/trace_records.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "process/spans/name_cache.h"
#include "profile/recorder/preorder.h"

namespace steptape::detail::profile {
namespace {

/// Maps numbers of this process's tables to those of a trace, which has only used entries.
class Renumbering {
 public:
  explicit Renumbering(Trace* trace) : trace_(trace) {}

  std::uint32_t name(const SpanRecord& record) {
    if (names_.size() <= record.nameId) {
      names_.resize(record.nameId + std::size_t{1}, kUnknown);
    }
    std::uint32_t& index = names_[record.nameId];
    if (index == kUnknown) {
      index = static_cast<std::uint32_t>(trace_->names.size());
      trace_->names.push_back(
          {spanName(record.nameId), record.kind, "", process::spanColor(record.nameId)});
    }
    return index;
  }

  std::uint32_t details(std::uint32_t detailsId) {
    if (detailsId == 0) {
      return 0;
    }
    const auto [known, isNew] =
        details_.emplace(detailsId, static_cast<std::uint32_t>(trace_->details.size()));
    if (isNew) {
      trace_->details.push_back(spanDetails(detailsId));
    }
    return known->second;
  }

 private:
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};

  Trace* trace_;
  std::vector<std::uint32_t> names_;
  std::unordered_map<std::uint32_t, std::uint32_t> details_;
};

/// Converts ticks to nanoseconds since the window began.
class Timeline {
 public:
  Timeline(std::uint64_t startTicks, const TickConverter& converter)
      : startTicks_(startTicks), converter_(&converter) {}
  std::int64_t at(std::uint64_t ticks) const {
    return static_cast<std::int64_t>(std::floor(converter_->nanosBetween(startTicks_, ticks)));
  }

 private:
  std::uint64_t startTicks_;
  const TickConverter* converter_;
};

TraceSpan spanOf(const SpanRecord& record, const Timeline& timeline, Renumbering& renumbering) {
  TraceSpan span;
  span.start = timeline.at(record.startTicks);
  span.duration = timeline.at(record.endTicks) - span.start;
  span.sequence = record.sequence();
  span.value = (record.flags & kHasValue) != 0 ? record.value() : 0.0;
  span.name = renumbering.name(record);
  span.details = renumbering.details(record.detailsId());
  span.forwardThread = record.forwardThread;
  span.flags = record.flags;
  span.correlation = record.correlation();
  if (record.kind == SpanKind::kRuntime) {
    span.flags &= static_cast<std::uint8_t>(~kDetached);  // nestSpans() finds its place
  }
  return span;
}

TraceMemoryEvent memoryOf(const SpanRecord& record, const Timeline& timeline, std::size_t thread) {
  TraceMemoryEvent event;
  event.time = timeline.at(record.startTicks);
  event.address = record.endTicks;
  event.bytes = static_cast<std::int64_t>(record.payload);
  event.deviceType = record.depth;
  event.deviceIndex = static_cast<std::int16_t>(record.forwardThread);
  event.thread = thread;
  return event;
}

void appendMemory(const SpanRecord& record, const Timeline& timeline, std::size_t thread,
                  std::vector<TraceMemoryEvent>* memory) {
  if ((record.flags & kMemoryTotals) == 0) {
    memory->push_back(memoryOf(record, timeline, thread));
  } else if (!memory->empty() && memory->back().thread == thread) {
    memory->back().totalAllocated = static_cast<std::int64_t>(record.endTicks);
    memory->back().totalReserved = static_cast<std::int64_t>(record.payload);
  }
}

void appendRecords(const std::vector<SpanRecord>& records, const Timeline& timeline,
                   Renumbering& renumbering, std::size_t thread, Trace* trace) {
  const std::vector<std::uint32_t> places =
      preorder(ArrayView<const SpanRecord>(records.data(), records.size()));
  const auto nested = static_cast<std::size_t>(
      std::count_if(places.begin(), places.end(), [](auto place) { return place != kNowhere; }));
  std::vector<TraceSpan>& spans = trace->threads[thread].spans;
  spans.resize(nested);
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].kind == SpanKind::kMemory) {
      appendMemory(records[i], timeline, thread, &trace->memory);
    } else if (places[i] == kNowhere) {
      spans.push_back(spanOf(records[i], timeline, renumbering));
    } else {
      spans[places[i]] = spanOf(records[i], timeline, renumbering);
    }
  }
  nestSpans(&spans);
}

}  // namespace

TraceRecords::Thread& TraceRecords::thread(const process::SpanBatch& batch) {
  for (Thread& thread : threads_) {
    if (thread.id == batch.threadId && thread.device == batch.device) {
      return thread;
    }
  }
  return threads_.emplace_back(Thread{batch.threadId, batch.device, "", {}});
}

void TraceRecords::add(const process::SpanBatch& batch) {
  dropped_ += batch.dropped;
  if (batch.records.empty()) {
    return;
  }
  Thread& kept = thread(batch);
  kept.name = batch.threadName;
  for (const SpanRecord& record : batch.records) {
    if (record.startTicks < startTicks_) {
      continue;
    }
    if (roomFor_ == 0) {
      ++dropped_;
      continue;
    }
    --roomFor_;
    kept.records.push_back(record);
  }
}

void TraceRecords::endStep(std::int64_t number, std::uint64_t ticks, std::uint64_t threadId) {
  steps_.push_back({number, stepStartTicks_, ticks, threadId});
  stepStartTicks_ = ticks;
}

Trace TraceRecords::build(std::uint64_t endTicks, const TickConverter& converter,
                          const TraceOrigin& origin, std::int64_t clockOffsetNanos) const {
  Trace trace;
  trace.hostName = origin.hostName;
  trace.processId = origin.processId;
  trace.rank = origin.rank;
  trace.worldSize = origin.worldSize;
  trace.originNanos =
      static_cast<std::int64_t>(converter.wallSeconds(startTicks_) * 1e9) + clockOffsetNanos;
  trace.dropped = dropped_;
  const Timeline timeline(startTicks_, converter);
  trace.duration = timeline.at(endTicks);
  Renumbering renumbering(&trace);
  for (const Thread& thread : threads_) {
    trace.threads.push_back({thread.id, thread.name, thread.device, {}});
    appendRecords(thread.records, timeline, renumbering, trace.threads.size() - 1, &trace);
  }
  std::stable_sort(trace.memory.begin(), trace.memory.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
  for (const Step& step : steps_) {
    const auto ofStep =
        std::find_if(trace.threads.begin(), trace.threads.end(),
                     [&](const TraceThread& t) { return t.device < 0 && t.id == step.threadId; });
    const auto thread = static_cast<std::size_t>(ofStep - trace.threads.begin());
    if (ofStep == trace.threads.end()) {
      trace.threads.push_back({step.threadId, "", -1, {}});
    }
    const std::int64_t start = timeline.at(step.startTicks);
    trace.steps.push_back({step.number, start, timeline.at(step.endTicks) - start, thread});
  }
  return trace;
}

}  // namespace steptape::detail::profile
