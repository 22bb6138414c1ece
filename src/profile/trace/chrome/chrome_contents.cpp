// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/chrome/chrome_contents.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_set>

#include "base/json_text.h"
#include "base/text.h"
#include "profile/trace/autograd_node_prefix.h"
#include "profile/trace/chrome/chrome_events.h"
#include "profile/trace/chrome/chrome_format.h"
#include "profile/trace/chrome/json_value.h"
#include "profile/trace/known_names.h"
#include "profile/trace/thread_time.h"

namespace steptape::detail::profile {
namespace {

using Row = ChromeContents::Row;
using Process = ChromeContents::Process;

/// Recognizes autograd's nodes, which Kineto calls operators, by the spans around them.
void findBackwardNodes(std::vector<TraceName>* names) {
  std::unordered_set<std::string> nodes;
  for (const TraceName& name : *names) {
    if (base::startsWith(name.text, kAutogradNodePrefix)) {
      nodes.insert(name.text.substr(kAutogradNodePrefix.size()));
    }
  }
  for (TraceName& name : *names) {
    if (name.kind == SpanKind::kOperator && nodes.count(name.text) != 0) {
      name.kind = SpanKind::kBackward;
    }
  }
}

/// Sets SpanFlag::kNestedInItself.
class SelfNesting : public ThreadVisitor {
 public:
  SelfNesting(std::vector<TraceSpan>* spans, std::size_t names) : spans_(*spans), open_(names, 0) {}

  void begin(std::size_t i, const std::vector<OpenSpan>&) {
    if (open_[spans_[i].name]++ != 0 && takesTimeOfThread(spans_[i])) {
      spans_[i].flags |= kNestedInItself;
    }
  }
  void end(std::size_t i, std::int64_t, const std::vector<OpenSpan>&) { --open_[spans_[i].name]; }

 private:
  std::vector<TraceSpan>& spans_;
  std::vector<std::uint32_t> open_;  // number of open spans by name
};

/// Removes spans whose end is not in the file.
/// @return the number of removed spans.
std::uint64_t removeUnfinished(std::vector<TraceSpan>* spans) {
  const auto unfinished = std::remove_if(spans->begin(), spans->end(), [](const TraceSpan& span) {
    return span.duration == ChromeContents::kUnfinished;
  });
  const auto removed = static_cast<std::uint64_t>(spans->end() - unfinished);
  spans->erase(unfinished, spans->end());
  return removed;
}

/// Finds the number of each thread in "Fwd thread id". Kineto does not write it, but arrows show
/// the thread of origin. REQUIRES: rows in order.
void findTorchThreads(const ChromeContents::Flow& flow, const std::vector<TraceName>& names,
                      std::vector<Row>* rows) {
  if (!flow.from || !flow.to || (*rows)[*flow.from].torchThread != 0) {
    return;
  }
  const std::vector<TraceSpan>& spans = (*rows)[*flow.to].thread.spans;
  auto span = std::lower_bound(
      spans.begin(), spans.end(), flow.end,
      [](const TraceSpan& candidate, std::int64_t time) { return candidate.start < time; });
  for (; span != spans.end() && span->start == flow.end; ++span) {
    if (names[span->name].kind == SpanKind::kBackward && span->sequence >= 0) {
      (*rows)[*flow.from].torchThread = span->forwardThread;
    }
  }
}

/// Sorts the steps. One that overlaps the next by a rounding ends where the next begins. One that
/// begins inside another step of its thread becomes a span.
void orderSteps(Process* process, std::vector<Row>* rows, TraceTables* tables) {
  std::vector<TraceStep>& steps = process->trace.steps;
  std::stable_sort(steps.begin(), steps.end(),
                   [](const auto& a, const auto& b) { return a.start < b.start; });
  std::map<std::size_t, TraceStep*> last;  // by thread
  std::size_t kept = 0;
  for (const TraceStep& step : steps) {
    TraceStep*& before = last[step.thread];
    const std::int64_t overlap =
        before == nullptr ? 0 : before->start + before->duration - step.start;
    if (overlap > std::min(kRoundingNanos, step.duration)) {
      TraceSpan& span = (*rows)[step.thread].thread.spans.emplace_back();
      span.start = step.start;
      span.duration = step.duration;
      span.name = tables->numberOf(
          TraceName{kStepPrefix + std::to_string(step.number), SpanKind::kUserScope});
      continue;
    }
    if (overlap > 0) {
      before->duration -= overlap;
    }
    steps[kept] = step;
    before = &steps[kept++];
  }
  steps.resize(kept);
}

/// Returns whether a Python call begins with the step and outlasts it. REQUIRES: spans in order.
bool beginsWithACallThatOutlastsIt(const TraceStep& step, const std::vector<TraceSpan>& spans,
                                   const std::vector<TraceName>& names) {
  const auto near =
      std::lower_bound(spans.begin(), spans.end(), step.start - kRoundingNanos,
                       [](const TraceSpan& span, std::int64_t time) { return span.start < time; });
  const auto behind = std::find_if(near, spans.end(),
                                   [&](const TraceSpan& span) { return span.start > step.start; });
  return std::any_of(near, behind, [&](const TraceSpan& span) {
    return endOf(span) > step.start + step.duration && names[span.name].category == kPythonCategory;
  });
}

/// Begins steps where the one before ended, or with the thread, if the file has them begin with the
/// Python call that ends them. PyTorch 2.5 with `with_stack` moves the begin of a step to that of
/// the first call that crosses its end, in most programs Profiler.step() itself.
///
/// @return the number of such steps. REQUIRES: steps and rows in order.
/// @source https://github.com/pytorch/pytorch/pull/129599
std::uint64_t restoreSteps(std::vector<TraceStep>* steps, const std::vector<Row>& rows,
                           const std::vector<TraceName>& names) {
  std::uint64_t restored = 0;
  std::map<std::size_t, std::int64_t> ends;  // of the steps so far, by thread
  for (TraceStep& step : *steps) {
    const std::vector<TraceSpan>& spans = rows[step.thread].thread.spans;
    const std::int64_t end = step.start + step.duration;
    if (beginsWithACallThatOutlastsIt(step, spans, names)) {
      const auto before = ends.find(step.thread);
      step.start = before == ends.end() ? spans.front().start : before->second;
      step.duration = end - step.start;
      ++restored;
    }
    ends[step.thread] = end;
  }
  return restored;
}

/// Sorts the spans of each row, and derives data that the events do not contain.
void finishRows(ChromeContents* contents) {
  for (Process& process : contents->processes) {
    orderSteps(&process, &contents->rows, &contents->tables);
  }
  const std::vector<TraceName>& names = contents->tables.names();
  for (Row& row : contents->rows) {
    contents->strangers += removeUnfinished(&row.thread.spans);
    nestSpans(&row.thread.spans);
  }
  for (Process& process : contents->processes) {
    contents->restoredSteps += restoreSteps(&process.trace.steps, contents->rows, names);
  }
  for (const ChromeContents::Flow& flow : contents->flows) {
    findTorchThreads(flow, names, &contents->rows);
  }
  for (Row& row : contents->rows) {
    for (TraceSpan& span : row.thread.spans) {
      if (names[span.name].kind == SpanKind::kOperator) {
        span.forwardThread = row.torchThread;
      }
    }
  }
}

/// Returns whether this is a device, or Kineto's rows for its own overhead, rather than a process.
bool isGuest(const Process& process) {
  return process.device || (!process.isOurs && base::startsWith(process.id, "-"));
}

/// Returns the process to which each one belongs: guests belong to the process that the file names,
/// else to the largest.
std::vector<std::size_t> hostsOf(const ChromeContents& contents) {
  const std::vector<Process>& processes = contents.processes;
  std::vector<std::size_t> sizes;
  sizes.reserve(processes.size());
  for (const Process& process : processes) {
    sizes.push_back(isGuest(process) ? 0 : 1);
  }
  for (const Row& row : contents.rows) {
    sizes[row.process] += isGuest(processes[row.process]) ? 0 : row.thread.spans.size();
  }
  const auto largest =
      static_cast<std::size_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
  std::vector<std::size_t> hosts;
  for (std::size_t p = 0; p < processes.size(); ++p) {
    const auto named = std::find_if(processes.begin(), processes.end(), [&](const Process& host) {
      return !isGuest(host) && host.id == processes[p].hostId;
    });
    hosts.push_back(!isGuest(processes[p]) ? p
                    : named == processes.end()
                        ? largest
                        : static_cast<std::size_t>(named - processes.begin()));
  }
  return hosts;
}

/// Calls `visit` with each point in time of the trace, and with the duration that follows it.
template <typename Visit>
void forEachTime(Trace* trace, Visit visit) {
  for (TraceThread& thread : trace->threads) {
    for (TraceSpan& span : thread.spans) {
      visit(&span.start, span.duration);
    }
  }
  for (TraceStep& step : trace->steps) {
    visit(&step.start, step.duration);
  }
  for (TraceMemoryEvent& event : trace->memory) {
    visit(&event.time, 0);
  }
  for (TraceCounter& counter : trace->counters) {
    for (auto& point : counter.points) {
      visit(&point.first, 0);
    }
  }
}

template <typename T>
void appendAll(std::vector<T>* from, std::vector<T>* to) {
  std::move(from->begin(), from->end(), std::back_inserter(*to));
}

/// Removes stream and device from the arguments of spans, because the row of the stream has them.
void removeStreams(std::vector<TraceSpan>* spans, TraceTables* tables) {
  for (TraceSpan& span : *spans) {
    const std::string& arguments = tables->details(span.details).arguments;
    if (arguments.find("\"stream\": ") == std::string::npos &&
        arguments.find("\"device\": ") == std::string::npos) {
      continue;
    }
    SpanDetails details = tables->details(span.details);
    details.arguments.clear();
    for (const auto& [key, value] : jsonMembers("{" + arguments + "}")) {
      if (key != "stream" && key != "device") {
        details.arguments +=
            (details.arguments.empty() ? "" : ", ") + base::jsonString(key) + ": " + value.json();
      }
    }
    span.details = tables->numberOf(details);
  }
}

/// Moves the rows of a process and its guests into its trace. Two rows may belong to the same
/// stream.
void moveRows(ChromeContents* contents, const std::vector<std::size_t>& hosts, std::size_t host,
              Trace* trace) {
  std::vector<std::size_t> threads(contents->rows.size(), 0);
  std::map<std::pair<int, std::uint64_t>, std::size_t> known;
  for (std::size_t r = 0; r < contents->rows.size(); ++r) {
    Row& row = contents->rows[r];
    const Process& process = contents->processes[row.process];
    if (hosts[row.process] != host || !(row.isUsed || contents->processes[host].isOurs)) {
      continue;
    }
    row.thread.device = process.device.value_or(-1);
    if (process.device) {
      removeStreams(&row.thread.spans, &contents->tables);
    }
    if (row.thread.name == unnamedThread(row.thread.id, row.thread.device)) {
      row.thread.name.clear();
    }
    const auto [place, isNew] =
        known.try_emplace({row.thread.device, row.thread.id}, trace->threads.size());
    threads[r] = place->second;
    if (isNew) {
      trace->threads.push_back(std::move(row.thread));
    } else {
      appendAll(&row.thread.spans, &trace->threads[place->second].spans);
      nestSpans(&trace->threads[place->second].spans);
    }
  }
  for (TraceStep& step : trace->steps) {
    step.thread = threads[step.thread];
  }
  for (TraceMemoryEvent& event : trace->memory) {
    event.thread = threads[event.thread];
  }
}

/// Returns the trace of a process, with the data of its guests' traces except their rows.
Trace takeTrace(std::vector<Process>* processes, const std::vector<std::size_t>& hosts,
                std::size_t host) {
  Trace trace = std::move((*processes)[host].trace);
  for (std::size_t p = 0; p < processes->size(); ++p) {
    if (hosts[p] == host && p != host) {
      appendAll(&(*processes)[p].trace.steps, &trace.steps);
      appendAll(&(*processes)[p].trace.memory, &trace.memory);
      appendAll(&(*processes)[p].trace.counters, &trace.counters);
    }
  }
  return trace;
}

/// Adds the data that Kineto writes once per file.
void stateFacts(const ChromeContents& contents, const std::string& processId, Trace* trace) {
  trace->hostName = contents.hostName;
  trace->processId = JsonValue{processId, 0, true}.integer().value_or(0);
  trace->rank = contents.rank;
  trace->worldSize = contents.worldSize;
  trace->metadata = contents.metadata;
  std::optional<std::int64_t> begin;
  std::int64_t end = 0;
  if (contents.window) {
    begin = contents.window->first;
    end = *begin + contents.window->second;
  }
  forEachTime(trace, [&](const std::int64_t* time, std::int64_t duration) {
    begin = std::min(begin.value_or(*time), *time);
    end = contents.window ? end : std::max(end, *time + duration);
  });
  trace->originNanos = begin.value_or(0);
  trace->duration = end - trace->originNanos;
}

void sortByTime(Trace* trace) {
  std::stable_sort(trace->steps.begin(), trace->steps.end(),
                   [](const auto& a, const auto& b) { return a.start < b.start; });
  std::stable_sort(trace->memory.begin(), trace->memory.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
  for (TraceCounter& counter : trace->counters) {
    std::stable_sort(counter.points.begin(), counter.points.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }
}

}  // namespace

std::vector<Trace> assembleTraces(ChromeContents* contents) {
  const bool isOurs = std::any_of(contents->processes.begin(), contents->processes.end(),
                                  [](const Process& process) { return process.isOurs; });
  if (!isOurs) {
    findBackwardNodes(&contents->tables.names());
    recognizeKinds(&contents->tables.names());
  }
  finishRows(contents);
  const std::vector<std::size_t> hosts = hostsOf(*contents);
  std::vector<Trace> traces;
  for (std::size_t p = 0; p < contents->processes.size(); ++p) {
    Process& process = contents->processes[p];
    if (hosts[p] != p) {
      continue;
    }
    Trace trace = takeTrace(&contents->processes, hosts, p);
    moveRows(contents, hosts, p, &trace);
    if (!process.isOurs) {
      if (trace.threads.empty() && trace.counters.empty()) {
        continue;
      }
      stateFacts(*contents, process.id, &trace);
    }
    forEachTime(&trace, [origin = trace.originNanos](std::int64_t* time, std::int64_t) {
      *time -= origin;
    });
    trace.originNanos += contents->baseNanos;
    sortByTime(&trace);
    contents->tables.giveOwnTables(&trace);
    for (TraceThread& thread : trace.threads) {
      SelfNesting nesting(&thread.spans, trace.names.size());
      visitThread(thread.spans, &nesting);
    }
    traces.push_back(std::move(trace));
  }
  if (!traces.empty()) {
    traces.front().dropped += contents->strangers;
  }
  return traces;
}

}  // namespace steptape::detail::profile
