// SPDX-License-Identifier: Apache-2.0
#include "profile/trace/xplane/xplane_lines.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>

#include "profile/trace/thread_time.h"

namespace steptape::detail::profile {
namespace {

/// The spans of a line that are open when the next one starts.
class Nesting {
 public:
  explicit Nesting(const XPlaneClock& clock) : clock_(clock) {}

  /// Returns where a span ends in XProf: at its end, but at least one picosecond before its
  /// parent's end. XProf would not count a child that ends with its parent.
  ///
  /// @param span REQUIRES: does not start before the previous one.
  /// @return nothing if the span ends outside of its parent; it is then not open.
  std::optional<std::int64_t> open(const TraceSpan& span) {
    while (!ends_.empty() && ends_.back().nanos <= span.start) {
      ends_.pop_back();
    }
    const std::int64_t nanos = span.start + span.duration;
    std::int64_t picos = clock_.picos(nanos);
    if (!ends_.empty()) {
      if (nanos > ends_.back().nanos) {
        return std::nullopt;
      }
      picos = std::max(clock_.picos(span.start), std::min(picos, ends_.back().picos - 1));
    }
    ends_.push_back({nanos, picos});
    return picos;
  }

 private:
  struct End {
    std::int64_t nanos;
    std::int64_t picos;
  };
  const XPlaneClock& clock_;
  std::vector<End> ends_;
};

/// Distributes spans that do not nest over as few lines as possible.
class SideLines {
 public:
  SideLines(std::string name, XPlaneLineIds* ids) : name_(std::move(name)), ids_(*ids) {}

  /// Returns a line on which no span is open when this span starts.
  /// @param span REQUIRES: does not start before the previous one.
  events::XLineEncoder* lineFor(const TraceSpan& span) {
    std::size_t line = lines_.size();
    if (!ends_.empty() && ends_.top().first <= span.start) {
      line = ends_.top().second;
      ends_.pop();
    } else {
      lines_.emplace_back(ids_.next(), name_);
    }
    ends_.emplace(span.start + span.duration, line);
    return &lines_[line];
  }

  std::vector<events::XLineEncoder> take() { return std::move(lines_); }

 private:
  using End = std::pair<std::int64_t, std::size_t>;  // when a line becomes free

  std::string name_;
  XPlaneLineIds& ids_;
  std::vector<events::XLineEncoder> lines_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace

std::int64_t XPlaneLineIds::ofThread(std::uint64_t thread) {
  const auto id = static_cast<std::int64_t>(thread);
  return taken_.insert(id).second ? id : next();
}

std::int64_t XPlaneLineIds::next() {
  while (!taken_.insert(++last_).second) {
  }
  return last_;
}

std::vector<std::vector<XPlaneFlow>> xplaneFlows(const Trace& trace) {
  // The lowest two bits encode at which end of the arrow a span is.
  constexpr std::uint64_t kHead = 1;
  constexpr std::uint64_t kTail = 2;
  std::vector<std::vector<XPlaneFlow>> flows(trace.threads.size());
  std::uint64_t id = 0;
  for (const TraceLink& link : linkBackward(trace)) {
    id += 4;
    flows[link.fromThread].emplace_back(link.fromSpan, id + kTail);
    flows[link.toThread].emplace_back(link.toSpan, id + kHead);
  }
  for (std::vector<XPlaneFlow>& ofThread : flows) {
    std::sort(ofThread.begin(), ofThread.end());
  }
  return flows;
}

void addXPlaneThread(const TraceThread& thread, const std::string& name,
                     ArrayView<const XPlaneFlow> flows, const XPlaneClock& clock,
                     XPlaneSpans* spans, XPlaneLineIds* ids, events::XPlaneEncoder* plane) {
  events::XLineEncoder line(ids->ofThread(thread.id), name);
  Nesting nesting(clock);
  SideLines sideLines(name + " (detached)", ids);
  const XPlaneFlow* flow = flows.begin();
  std::int64_t twinsAround = 0;
  for (std::size_t i = 0; i < thread.spans.size(); ++i) {
    const TraceSpan& span = thread.spans[i];
    twinsAround = i > 0 && areTwins(span, thread.spans[i - 1]) ? twinsAround + 1 : 0;
    XPlaneSpanFacts facts;
    if (flow != flows.end() && flow->first == i) {
      facts.flow = flow->second;
      ++flow;
    }
    const bool isDetached = (span.flags & kDetached) != 0;
    if (const auto end = isDetached ? std::nullopt : nesting.open(span)) {
      facts.endPicos = *end;
      spans->add(span, facts, &line);
    } else {
      facts.endPicos = clock.picos(span.start + span.duration);
      facts.thread = thread.id;
      // The order of lines is not that of the spans.
      if (twinsAround > 0 || (i + 1 < thread.spans.size() && areTwins(span, thread.spans[i + 1]))) {
        facts.twinsAround = twinsAround;
      }
      spans->add(span, facts, sideLines.lineFor(span));
    }
  }
  plane->addLine(std::move(line));
  for (events::XLineEncoder& sideLine : sideLines.take()) {
    plane->addLine(std::move(sideLine));
  }
}

}  // namespace steptape::detail::profile
