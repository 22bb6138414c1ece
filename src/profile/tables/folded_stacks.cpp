// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "steptape/profile/trace_summary.h"

#include "profile/tables/span_stacks.h"
#include "profile/trace/thread_time.h"
#include "profile/trace/trace_file.h"

namespace steptape {
namespace {

using detail::profile::SpanStacks;

/// Returns the time of each span without the spans inside.
std::vector<std::int64_t> selfTimes(const std::vector<TraceSpan>& spans) {
  struct : detail::profile::ThreadVisitor {
    std::vector<std::int64_t> self;
    void end(std::size_t i, std::int64_t time, const std::vector<detail::profile::OpenSpan>&) {
      self[i] = time;
    }
  } visitor;
  visitor.self.resize(spans.size());
  detail::profile::visitThread(spans, &visitor);
  return std::move(visitor.self);
}

void addProcess(const Trace& trace, const std::string& root,
                std::map<std::string, std::int64_t>* nanosByPath) {
  const SpanStacks stacks(trace, SpanStacks::Frames::kAll);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> nanos;  // by stack and name
  for (std::size_t thread = 0; thread < trace.threads.size(); ++thread) {
    const std::vector<TraceSpan>& spans = trace.threads[thread].spans;
    const std::vector<std::int64_t> self = selfTimes(spans);
    for (std::size_t i = 0; i < spans.size(); ++i) {
      nanos[{stacks.of(thread, i), spans[i].name}] += self[i];
    }
  }
  for (const auto& [place, sum] : nanos) {
    (*nanosByPath)[root + stacks.pathOf(place.first, trace.names[place.second])] += sum;
  }
}

}  // namespace

std::string foldedStacks(ArrayView<const Trace> processes) {
  std::map<std::string, std::int64_t> nanosByPath;
  if (processes.size() == 1) {
    addProcess(processes[0], "", &nanosByPath);
  } else if (processes.size() > 1) {
    const std::vector<std::string> names = detail::profile::fileProcessNames(processes);
    for (std::size_t i = 0; i < processes.size(); ++i) {
      addProcess(processes[i], detail::profile::frameOf(names[i]) + ';', &nanosByPath);
    }
  }
  std::string text;
  for (const auto& [path, nanos] : nanosByPath) {
    if (const std::int64_t micros = (nanos + 500) / 1000; micros > 0) {
      text += path + ' ' + std::to_string(micros) + '\n';
    }
  }
  return text;
}

}  // namespace steptape
