// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "steptape/profile/trace.h"

namespace steptape::detail::profile {

/// Times of other writers are rounded to this, so an inner span may end that much after the span
/// around it.
inline constexpr std::int64_t kRoundingNanos = 1000;

inline std::int64_t endOf(const TraceSpan& span) {
  return span.start + span.duration;
}

/// Returns whether span `a` is before `b` in TraceThread::spans. Of two equal spans, the first is
/// the outer one.
inline bool comesFirst(const TraceSpan& a, const TraceSpan& b) {
  return a.start != b.start ? a.start < b.start : a.duration > b.duration;
}

/// Returns whether two spans have the same times.
inline bool areTwins(const TraceSpan& a, const TraceSpan& b) {
  return a.start == b.start && a.duration == b.duration;
}

/// Returns whether the thread of a span was busy with it. Else it ran beside the thread.
inline bool takesTimeOfThread(const TraceSpan& span) {
  return (span.flags & (kDetached | kOverlapping)) != kDetached;
}

/// Returns whether a span that began while `outer` was open lies in it: it ends with it, or the
/// part outside is a rounding and no longer than the part inside.
inline bool isInside(const TraceSpan& span, std::int64_t outerEnd) {
  const std::int64_t outside = endOf(span) - outerEnd;
  return outside <= 0 || (outside <= kRoundingNanos && outside <= outerEnd - span.start);
}

/// A span and those around it, while the spans of a thread are visited.
struct OpenSpan {
  std::size_t index;
  std::int64_t end;
  std::int64_t self = 0;  ///< Time up to now in the span itself.
};

/// Visits the spans of a thread in time. Each moment belongs to the span that began last of those
/// that are open, so the self times of a thread add up to the time that its spans cover, however
/// they overlap:
///
///     alpha  |----------|                 self |------|
///     beta          |----------|          self        |----------|
///
/// A span is inside the innermost one that it does not outlive, see isInside(). Spans that take no
/// time of the thread are visited on their own.
///
/// @param visitor Its methods are called in the order of time, `open` from the outermost span to
///                the innermost:
///                `begin(index, open)`: a span begins inside `open`;
///                `pass(from, to, open)`: the time belongs to the last span of `open`;
///                `end(index, self, open)`: it ends, or another span begins that outlives it;
///                `open` are the spans around it.
/// @cost   O(n) in the number of spans.
template <typename Visitor>
void visitThread(const std::vector<TraceSpan>& spans, Visitor* visitor) {
  std::vector<OpenSpan> open;
  std::int64_t now = INT64_MIN;  // times before it belong to a span
  const auto passUntil = [&](std::int64_t time) {
    OpenSpan& innermost = open.back();
    const std::int64_t until = std::min(time, innermost.end);
    if (until > now) {
      innermost.self += until - now;
      visitor->pass(now, until, open);
      now = until;
    }
  };
  const auto endInnermost = [&] {
    const OpenSpan ended = open.back();
    open.pop_back();
    visitor->end(ended.index, ended.self, open);
  };
  const std::vector<OpenSpan> none;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const TraceSpan& span = spans[i];
    if (!takesTimeOfThread(span)) {
      visitor->begin(i, none);
      visitor->end(i, 0, none);
      continue;
    }
    while (!open.empty()) {
      passUntil(span.start);
      const std::int64_t end = open.back().end;
      if (end > span.start && isInside(span, end)) {
        break;
      }
      endInnermost();
    }
    now = std::max(now, span.start);
    visitor->begin(i, open);
    open.push_back({i, endOf(span)});
  }
  while (!open.empty()) {
    passUntil(INT64_MAX);
    endInnermost();
  }
}

/// A visitor that ignores what it is told, to derive from.
struct ThreadVisitor {
  void begin(std::size_t, const std::vector<OpenSpan>&) {}
  void pass(std::int64_t, std::int64_t, const std::vector<OpenSpan>&) {}
  void end(std::size_t, std::int64_t, const std::vector<OpenSpan>&) {}
};

}  // namespace steptape::detail::profile
